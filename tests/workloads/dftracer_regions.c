/* SPDX-License-Identifier: BSD-2-Clause */
/* dftracer_regions: a program for DFTracer's API for C, or compiled as C++ for that; its regions are in dftracer.sh. */
#include <dftracer/dftracer.h>

#ifdef __cplusplus
static int work(int step)
{
	DFTRACER_CPP_FUNCTION();
	DFTRACER_CPP_FUNCTION_UPDATE("step", step);
	{
		DFTRACER_CPP_REGION(CUSTOM);
		DFTRACER_CPP_REGION_UPDATE(CUSTOM, "key", "value");
		DFTRACER_CPP_REGION_START(BLOCK);
		DFTRACER_CPP_REGION_DYN_UPDATE(BLOCK, "n", step);
		DFTRACER_CPP_REGION_END(BLOCK);
	}
	if (step > 1)
		throw step;
	return step;
}

int main(void)
{
	DFTRACER_CPP_INIT(NULL, NULL, NULL);
	DFTRACER_CPP_METADATA(meta, "key", "value");
	DFTRACER_CPP_APP_METADATA_INT("ranks", -4);
	work(1);
	try {
		work(2);
	} catch (int) {
	}
	DFTRACER_CPP_FINI();
	return 0;
}
#else
static int work(int step)
{
	DFTRACER_C_FUNCTION_START();
	DFTRACER_C_FUNCTION_UPDATE_INT("step", step);
	DFTRACER_C_REGION_START(CUSTOM);
	DFTRACER_C_REGION_UPDATE_STR(CUSTOM, "key", "value");
	DFTRACER_C_REGION_START(BLOCK);
	DFTRACER_C_REGION_UPDATE_INT(BLOCK, "n", step);
	DFTRACER_C_REGION_END(BLOCK);
	DFTRACER_C_REGION_END(CUSTOM);
	if (step > 1)
		return 0; /* ends the function's region, too */
	DFTRACER_C_FUNCTION_END();
	return step;
}

int main(void)
{
	DFTRACER_C_INIT(NULL, NULL, NULL);
	DFTRACER_C_METADATA(meta, "key", "value");
	DFTRACER_C_APP_METADATA_INT("ranks", -4);
	work(1);
	work(2);
	DFTRACER_C_FINI();
	return 0;
}
#endif
