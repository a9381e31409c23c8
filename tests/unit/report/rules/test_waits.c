/* SPDX-License-Identifier: BSD-2-Clause */
/* Checkpoints that the trainer waits for: see ../job.h for the traces. */
#include "report/rules/rules.h"

#include "../job.h"

static void the_trainer_writes_a_checkpoint(void)
{
	put_job(0);
	put_waits(20 * MS);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_rw(100, step(i) + 300 * MS, 250 * MS, 'W', MiB, i * MiB, 0, 3);
		put(SYNC, step(i) + 600 * MS, "100\t100\tx\tfsync\t%llu\t0\t5\t-\t-\t3\tckpt.pt", N(300 * MS));
		put_work(101, i, 20 * MS);
		put_work(102, i, 20 * MS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULES(the_trainer_writes_a_checkpoint, ANSWER("checkpoint-write", 0.55), FOUND("sync-often", NAN)),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
