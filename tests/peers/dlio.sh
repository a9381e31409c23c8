#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# DLIO 2.0.0 as PyPI has it, two ranks with two readers each, runs unchanged under `dltraced start' without DFTracer: its
# regions, epochs, steps, samples and bytes are those of its own output. DFAnalyzer's preset for DLIO 2.0.0 has its layers of
# our export. (DFTracer 2.2 itself does not run it: it has no dftracer.logger.)
native=${0%/*}/../native
. "$native/lib.sh"
peers=$native/../peers
python=$("$peers/environment") || fail "no environment"
exports=$("$peers/environment" exports) || fail "no environment for exports"
export PYTHONDONTWRITEBYTECODE=1 LD_LIBRARY_PATH="${python%/bin/*}/lib" # of MPI

# The same packages without DFTracer. DLIO imports TensorFlow, and uses it only for jobs of that: an empty module is enough.
packages_of() { "$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }
"$python" -m venv --without-pip without || fail "venv"
for package in "$(packages_of "$python")"/*; do
	case ${package##*/} in
	dftracer* | pydftracer*) ;;
	*) ln -s "$package" "$(packages_of without/bin/python3)/" || fail "$package" ;;
	esac
done
! without/bin/python3 -c 'import dftracer' 2>/dev/null || fail "there is a DFTracer"
mkdir empty
: >empty/tensorflow.py

PYTHONPATH=$TMPDIR/empty trace -- "${python%/*}/mpiexec" -n 2 "$TMPDIR/without/bin/python3" -m dlio_benchmark.main \
	workload=unet3d_h100 hydra.run.dir="$TMPDIR/out" ++workload.workflow.generate_data=True \
	++workload.dataset.data_folder="$TMPDIR/data" ++workload.dataset.num_files_train=16 ++workload.dataset.record_length=65536 \
	++workload.dataset.record_length_stdev=0 ++workload.dataset.record_length_resize=0 ++workload.reader.batch_size=2 \
	++workload.reader.read_threads=2 ++workload.train.epochs=3 ++workload.train.computation_time=0.02 \
	++workload.checkpoint.checkpoint_folder="$TMPDIR/checkpoints" ++workload.checkpoint.model_size=20480 \
	++workload.checkpoint.checkpoint_after_epoch=1 ++workload.checkpoint.epochs_between_checkpoints=1 >log 2>err ||
	fail "DLIO: $(tail -n 20 err)"
! grep -q "of DFTracer's API" err || fail "not all of it is known: $(cat err)"
"$DLT" report --json "$t" >report.json || fail "report --json"
check dlio out report.json

mkdir pfw
"$DLT" export "$t" -f pfw --path "$TMPDIR/data" -o pfw/trace.pfw.gz || fail "export"
USER=${USER:-root} DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT=300s DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP=300s \
	"${exports%/*}/dfanalyzer" trace_path="$TMPDIR/pfw" hydra.run.dir="$TMPDIR/analyzed" analyzer=dftracer analyzer/preset=dlio-prev \
	cluster=local cluster.n_workers=1 cluster.processes=false output=json 'view_types=[time_range]' >log 2>&1 || fail "dfanalyzer: $(tail -n 20 log)"
layers=$(python3 -c 'import json
layers = json.load(open("analyzed/dfanalyzer_output.json"))["views"]["time_range"]["summary"]["layers"]
print(*(layers[name]["count"] for name in ("epoch", "fetch_data")), all(layers[name]["count"] > 0 for name in ("compute", "reader", "reader_posix")))')
rows=$(cut -f 7 "$t/regions.out" | grep -c '^loop\.iter$')
equal "DFAnalyzer's epochs and fetches, and whether all layers are there" "$layers" "6 $rows True"
