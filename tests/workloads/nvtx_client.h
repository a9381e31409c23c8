/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program's copy of NVTX 3 does, as far as nvtx.c uses it, without NVIDIA's headers: names, numbers and layouts
 * are the published ones. It shares nothing with inject/, so that the two check each other; with -DREAL_NVTX, nvtx.c is
 * compiled with the real headers instead (tests/peers/nvtx.sh).
 */
#ifndef NVTX_CLIENT_H
#define NVTX_CLIENT_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <wchar.h>

#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_NO_PUSH_POP_TRACKING (-2)

enum { NVTX_COLOR_ARGB = 1 };
enum { NVTX_MESSAGE_TYPE_ASCII = 1, NVTX_MESSAGE_TYPE_UNICODE = 2, NVTX_MESSAGE_TYPE_REGISTERED = 3 };
enum {
	NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
	NVTX_PAYLOAD_TYPE_INT64 = 2,
	NVTX_PAYLOAD_TYPE_DOUBLE = 3,
	NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
	NVTX_PAYLOAD_TYPE_INT32 = 5,
	NVTX_PAYLOAD_TYPE_FLOAT = 6,
};

typedef uint64_t nvtxRangeId_t;
typedef struct nvtx_domain *nvtxDomainHandle_t;
typedef struct nvtx_string *nvtxStringHandle_t;

typedef struct {
	uint16_t version, size;
	uint32_t category;
	int32_t colorType;
	uint32_t color;
	int32_t payloadType, reserved0;
	union {
		uint64_t ullValue;
		int64_t llValue;
		double dValue;
		uint32_t uiValue;
		int32_t iValue;
		float fValue;
	} payload;
	int32_t messageType;
	union {
		const char *ascii;
		const wchar_t *unicode;
		nvtxStringHandle_t registered;
	} message;
} nvtxEventAttributes_t;

typedef void (*client_function)(void);

struct client_callbacks {
	size_t struct_size;
	int (*GetModuleFunctionTable)(int module, client_function ***table, unsigned int *size);
};

/* Each pointer belongs to the function with its number: 16 in either module, of which the first is none. */
static client_function client_core[16], client_core2[16];
static client_function *client_core_table[17], *client_core2_table[17];

static inline int client_module(int module, client_function ***table, unsigned int *size)
{
	if (module != 1 && module != 5)
		return 0;
	*table = module == 1 ? client_core_table : client_core2_table;
	*size = 16;
	return 1;
}

static inline const void *client_exports(uint32_t id)
{
	static const struct client_callbacks callbacks = { sizeof(callbacks), client_module };

	return id == 1 ? &callbacks : NULL;
}

/* Calls the library's entry with EXPORTS. Returns what it returned, 0 where there is no library. */
static inline int client_initialize(const void *(*exports)(uint32_t))
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*entry)(const void *(*)(uint32_t)) = NULL;
	int r;

	if (library)
		entry = (int (*)(const void *(*)(uint32_t)))dlsym(library, "InitializeInjectionNvtx2");
	r = entry ? entry(exports) : 0;
	if (library && !r)
		dlclose(library);
	return r;
}

static inline void nvtxInitialize(const void *reserved)
{
	(void)reserved;
	for (int i = 1; i < 16; i++) {
		client_core_table[i] = &client_core[i];
		client_core2_table[i] = &client_core2[i];
	}
	client_initialize(client_exports);
}

#define CLIENT_CALL(type, fails, name, pointer, params, args)       \
	static inline type name params                              \
	{                                                           \
		type(*function) params = (type(*) params)(pointer); \
                                                                    \
		return function ? function args : (type)(fails);    \
	}
#define CLIENT_CALL_VOID(name, pointer, params, args)               \
	static inline void name params                              \
	{                                                           \
		void(*function) params = (void(*) params)(pointer); \
                                                                    \
		if (function)                                       \
			function args;                              \
	}

CLIENT_CALL_VOID(nvtxMarkEx, client_core[1], (const nvtxEventAttributes_t *a), (a))
CLIENT_CALL_VOID(nvtxMarkA, client_core[2], (const char *s), (s))
CLIENT_CALL_VOID(nvtxMarkW, client_core[3], (const wchar_t *s), (s))
CLIENT_CALL(nvtxRangeId_t, 0, nvtxRangeStartEx, client_core[4], (const nvtxEventAttributes_t *a), (a))
CLIENT_CALL(nvtxRangeId_t, 0, nvtxRangeStartA, client_core[5], (const char *s), (s))
CLIENT_CALL(nvtxRangeId_t, 0, nvtxRangeStartW, client_core[6], (const wchar_t *s), (s))
CLIENT_CALL_VOID(nvtxRangeEnd, client_core[7], (nvtxRangeId_t id), (id))
CLIENT_CALL(int, -2, nvtxRangePushEx, client_core[8], (const nvtxEventAttributes_t *a), (a))
CLIENT_CALL(int, -2, nvtxRangePushA, client_core[9], (const char *s), (s))
CLIENT_CALL(int, -2, nvtxRangePushW, client_core[10], (const wchar_t *s), (s))
CLIENT_CALL(int, -2, nvtxRangePop, client_core[11], (void), ())
CLIENT_CALL_VOID(nvtxNameCategoryA, client_core[12], (uint32_t n, const char *s), (n, s))
CLIENT_CALL_VOID(nvtxNameCategoryW, client_core[13], (uint32_t n, const wchar_t *s), (n, s))
CLIENT_CALL_VOID(nvtxNameOsThreadA, client_core[14], (uint32_t n, const char *s), (n, s))
CLIENT_CALL_VOID(nvtxNameOsThreadW, client_core[15], (uint32_t n, const wchar_t *s), (n, s))
CLIENT_CALL_VOID(nvtxDomainMarkEx, client_core2[1], (nvtxDomainHandle_t d, const nvtxEventAttributes_t *a), (d, a))
CLIENT_CALL(nvtxRangeId_t, 0, nvtxDomainRangeStartEx, client_core2[2],
	    (nvtxDomainHandle_t d, const nvtxEventAttributes_t *a), (d, a))
CLIENT_CALL_VOID(nvtxDomainRangeEnd, client_core2[3], (nvtxDomainHandle_t d, nvtxRangeId_t id), (d, id))
CLIENT_CALL(int, -2, nvtxDomainRangePushEx, client_core2[4], (nvtxDomainHandle_t d, const nvtxEventAttributes_t *a),
	    (d, a))
CLIENT_CALL(int, -2, nvtxDomainRangePop, client_core2[5], (nvtxDomainHandle_t d), (d))
CLIENT_CALL_VOID(nvtxDomainNameCategoryA, client_core2[8], (nvtxDomainHandle_t d, uint32_t n, const char *s), (d, n, s))
CLIENT_CALL_VOID(nvtxDomainNameCategoryW, client_core2[9], (nvtxDomainHandle_t d, uint32_t n, const wchar_t *s),
		 (d, n, s))
CLIENT_CALL(nvtxStringHandle_t, 0, nvtxDomainRegisterStringA, client_core2[10], (nvtxDomainHandle_t d, const char *s),
	    (d, s))
CLIENT_CALL(nvtxStringHandle_t, 0, nvtxDomainRegisterStringW, client_core2[11],
	    (nvtxDomainHandle_t d, const wchar_t *s), (d, s))
CLIENT_CALL(nvtxDomainHandle_t, 0, nvtxDomainCreateA, client_core2[12], (const char *s), (s))
CLIENT_CALL(nvtxDomainHandle_t, 0, nvtxDomainCreateW, client_core2[13], (const wchar_t *s), (s))
CLIENT_CALL_VOID(nvtxDomainDestroy, client_core2[14], (nvtxDomainHandle_t d), (d))

#endif
