/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What NVTX 3 passes between a program and an injected library, as far as it is used here: declared anew, without
 * NVIDIA's headers. The facts, numbers and layouts are those of the published headers of NVTX 3.0 to 3.3
 * (github.com/NVIDIA/NVTX, c/include/nvtx3: nvToolsExt.h, nvtxDetail/nvtxInit.h, nvtxDetail/nvtxTypes.h), which promise
 * that none of them changes: new members come behind old ones, and each struct begins with its size.
 *
 * At the first call of NVTX from a file of the program (each has its own copy of all this), the header calls dlopen()
 * for the path in NVTX_INJECTION64_PATH (in a 32-bit program NVTX_INJECTION32_PATH), and then the library's
 * InitializeInjectionNvtx2(). If that returns 0, or one of the two is not there, all of NVTX does nothing from then on.
 * What it is passed returns tables of pointers to the program's pointers to functions, which are for the library to
 * set.
 */
#ifndef INJECT_NVTX_ABI_H
#define INJECT_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

typedef void (*nvtx_function)(void); /* of any type */

enum nvtx_export { NVTX_EXPORT_CALLBACKS = 1 };
enum nvtx_module {
	NVTX_CORE = 1,
	NVTX_CORE2 = 5
}; /* others are for names of CUDA's and OpenCL's objects, and for locks */

struct nvtx_callbacks {
	size_t size; /* of this struct */
	/* Returns 0 where the program does not know MODULE; else N pointers to its pointers to functions, by number. */
	int (*functions)(int module, nvtx_function ***ret, unsigned int *n);
};

typedef const void *(*nvtx_exports)(uint32_t id);

enum nvtx_core {
	NVTX_MARK_EX = 1,
	NVTX_MARK_A,
	NVTX_MARK_W,
	NVTX_START_EX,
	NVTX_START_A,
	NVTX_START_W,
	NVTX_END,
	NVTX_PUSH_EX,
	NVTX_PUSH_A,
	NVTX_PUSH_W,
	NVTX_POP,
	NVTX_NAME_CATEGORY_A,
	NVTX_NAME_CATEGORY_W,
	NVTX_NAME_THREAD_A,
	NVTX_NAME_THREAD_W,
};

enum nvtx_core2 {
	NVTX_DOMAIN_MARK = 1,
	NVTX_DOMAIN_START,
	NVTX_DOMAIN_END,
	NVTX_DOMAIN_PUSH,
	NVTX_DOMAIN_POP,
	NVTX_DOMAIN_NAME_CATEGORY_A = 8,
	NVTX_DOMAIN_NAME_CATEGORY_W,
	NVTX_DOMAIN_REGISTER_A,
	NVTX_DOMAIN_REGISTER_W,
	NVTX_DOMAIN_CREATE_A,
	NVTX_DOMAIN_CREATE_W,
};

enum nvtx_message { NVTX_MESSAGE_ASCII = 1, NVTX_MESSAGE_WIDE, NVTX_MESSAGE_REGISTERED };
enum nvtx_payload { NVTX_PAYLOAD_U64 = 1, NVTX_PAYLOAD_S64, NVTX_PAYLOAD_U32 = 4, NVTX_PAYLOAD_S32 };

struct nvtx_attributes {
	uint16_t version, size; /* SIZE: of this struct, as the program knows it */
	uint32_t category; /* 0: none */
	int32_t color_type;
	uint32_t color;
	int32_t payload_type; /* enum nvtx_payload, and others */
	int32_t reserved;
	union {
		uint64_t u64;
		int64_t s64;
		uint32_t u32;
		int32_t s32;
	} payload;
	int32_t message_type; /* enum nvtx_message; 0: none */
	union {
		const char *ascii;
		const wchar_t *wide;
		const void *registered; /* what DOMAIN_REGISTER returned */
	} message;
};

_Static_assert(sizeof(void *) != 8 ||
		       (offsetof(struct nvtx_attributes, message) == 40 && sizeof(struct nvtx_attributes) == 48),
	       "the struct of NVTX");

#define NVTX_NO_LEVELS (-2) /* of PUSH and POP: nested ranges are not counted */

#endif
