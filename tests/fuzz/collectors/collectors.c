/* SPDX-License-Identifier: BSD-2-Clause */
/* What mpstat, iostat and nvidia-smi print: the first byte says which of them, the second in what pieces. */
#include "fuzz.h"

#include "collectors/collectors.h"
#include "collectors/kinds.h"
#include "trace/clock.h"

static void read_pieces(struct collector *c, int fd, const uint8_t *data, size_t size, size_t piece)
{
	const struct clock_reading start = { .mono_ns = NSEC_PER_SEC, .real_ns = 1795222923 * NSEC_PER_SEC };
	struct clock_map map;

	clock_map_init(&map, &start);
	while (size) {
		size_t n = MIN(size, piece);

		EXPECT(write(fd, data, n) == (ssize_t)n);
		EXPECT(!collector_read(c, &map));
		data += n;
		size -= n;
	}
	close(fd);
	while (!collector_read(c, &map))
		;
}

static unsigned int tabs_in(const char *line)
{
	unsigned int n = 0;

	for (; (line = strchr(line, '\t')); line++)
		n++;
	return n;
}

/* Each line is a comment, the header, or a row with the header's number of fields. */
static void check_file(const char *path, const struct collector *c)
{
	autofree char *text = NULL;
	uint64_t rows = 0;
	char *rest, *line;

	EXPECT(util_read_file(path, SIZE_MAX, &text, NULL) == 0);
	rest = text;
	while ((line = strsep(&rest, "\n")) && rest) {
		if (*line == '#' || !strncmp(line, "TIMESTAMP\t", 10))
			continue;
		EXPECT(tabs_in(line) == tabs_in(c->columns));
		rows++;
	}
	EXPECT(rows == c->sink.rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autoclose int dir = open(fuzz_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autofree struct collector *c = calloc(1, sizeof(*c));
	autofree char *path = util_fmt("%s/out", fuzz_folder());
	int fds[2];

	if (size < 2)
		return 0;
	EXPECT(c && pipe2(fds, O_CLOEXEC | O_NONBLOCK) == 0);
	c->kind = &collector_kinds[data[0] % COLLECTOR_KINDS];
	c->interval_s = 1;
	c->singles_every = data[0] >> 4;
	c->read_fd = fds[0];
	unlink(path);
	EXPECT(sink_open(&c->sink, dir, "out") == 0);
	read_pieces(c, fds[1], data + 2, size - 2, data[1] ? data[1] : 65536);
	sink_close(&c->sink);
	check_file(path, c);
	return 0;
}
