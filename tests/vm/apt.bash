# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# Packages of another suite of Debian, or another architecture, than this machine's: apt with lists, a cache and a
# configuration of its own in $dir/apt, so that nothing is installed and the machine's own is left alone. Who sources
# this sets $dir, $suite, $archive ("security", or anything else) and, for sources, type=deb-src, for another architecture
# arch=arm64, and has say() of lib.bash.

# mirror: the URI of a Debian archive, as apt prints it: apt has read every form of its sources. DLT_VM_MIRROR and
# DLT_VM_SECURITY_MIRROR override it.
mirror() {
	local pattern uri=${DLT_VM_MIRROR-}

	[ "$archive" != security ] || uri=${DLT_VM_SECURITY_MIRROR-}
	[ -z "$uri" ] || { echo "$uri"; return; }
	grep -qx 'ID=debian' /etc/os-release || return
	pattern='^[a-z]+$'
	[ "$archive" != security ] || pattern='^[a-z]+-security$'
	apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
		awk -v p="$pattern" '$1 ~ p && $2 == "main" { print $3; exit }'
}

# configure URI: the machine's own configuration (proxies, credentials), plus this. The archive's keys come from the
# machine's file; where there is none, apt's own trusted keys count.
configure() {
	local uri=$1 keyring=/usr/share/keyrings/debian-archive-keyring.gpg

	[ -e $keyring ] || keyring=
	rm -rf "$dir/apt"
	mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial" "$dir/apt/empty"
	echo "${type-deb} [arch=${arch:-$(dpkg --print-architecture)}${keyring:+ signed-by=$keyring}] $uri $suite main" >"$dir/apt/sources.list"
	cat >"$dir/apt/conf" <<-END
		#clear APT::Update;
		#clear DPkg;
		APT::Architecture "${arch:-$(dpkg --print-architecture)}";
		APT::Architectures { "${arch:-$(dpkg --print-architecture)}"; };
		APT::Sandbox::User "root";
		Acquire::Languages "none";
		Acquire::Retries "3";
		Dir::State::Lists "$dir/apt/lists";
		Dir::State::status "/dev/null";
		Dir::Cache "$dir/apt/cache";
		Dir::Etc::SourceList "$dir/apt/sources.list";
		Dir::Etc::SourceParts "$dir/apt/empty";
		Dir::Etc::Preferences "/dev/null";
		Dir::Etc::PreferencesParts "$dir/apt/empty";
	END
}

get() { apt-get -c "$dir/apt/conf" "$@"; }

# depends PACKAGE REGEX: the dependencies whose names match.
depends() { apt-cache -c "$dir/apt/conf" depends "$1" | sed -nE "s/^ +\\|?Depends: ($2)\$/\\1/p"; }

# Signatures are always checked: an update may fail because the machine does not have new keys yet.
update_lists() {
	get update -qq >"$dir/apt/log" 2>&1 && ! grep -q '^[EW]:' "$dir/apt/log" && return
	cat "$dir/apt/log" >&2
	! grep -q NO_PUBKEY "$dir/apt/log" ||
		say "the keys that signed $suite are unknown here: install a newer debian-archive-keyring"
	return 1
}

# unpack_all FOLDER PACKAGE...: unpacks the packages with all that they depend on into FOLDER, a root with a merged /usr,
# without documentation and translations. No script of theirs runs.
unpack_all() {
	local root=$1 link deb

	shift
	get install -qq -y --download-only --no-install-recommends "$@" >"$dir/apt/log" 2>&1 || { cat "$dir/apt/log" >&2; return 1; }
	for link in bin lib sbin; do
		mkdir -p "$root/usr/$link" && ln -sfn "usr/$link" "$root/$link" || return
	done
	for deb in "$dir"/apt/cache/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$root" --keep-directory-symlink --no-same-owner \
			--exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*' || return
	done
}
