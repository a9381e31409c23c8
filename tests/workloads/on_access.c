/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * on_access FOLDER US READY: answers each open of a file in FOLDER after that time, as a scanner on access does. Makes
 * the file READY once it listens. Ends with status 77 where the kernel or the rights do not allow that.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/fanotify.h>
#include <time.h>
#include <unistd.h>

static void answer(int listener, const struct fanotify_event_metadata *event, long us)
{
	const struct fanotify_response yes = { event->fd, FAN_ALLOW };
	const struct timespec pause = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&pause, NULL);
	if (write(listener, &yes, sizeof(yes)) < 0)
		perror("write");
	close(event->fd);
}

int main(int argc, char **argv)
{
	char buf[4096] __attribute__((aligned(8)));
	int listener = fanotify_init(FAN_CLASS_CONTENT, O_RDONLY | O_LARGEFILE);
	ssize_t n;

	if (argc != 4)
		return 2;
	if (listener < 0 ||
	    fanotify_mark(listener, FAN_MARK_ADD, FAN_OPEN_PERM | FAN_EVENT_ON_CHILD, AT_FDCWD, argv[1]) < 0) {
		perror("fanotify");
		return 77;
	}
	if (close(open(argv[3], O_CREAT | O_WRONLY, 0644)) < 0)
		return 1;
	while ((n = read(listener, buf, sizeof(buf))) > 0)
		for (struct fanotify_event_metadata *event = (void *)buf; FAN_EVENT_OK(event, n);
		     event = FAN_EVENT_NEXT(event, n))
			answer(listener, event, strtol(argv[2], NULL, 10));
	return 1;
}
