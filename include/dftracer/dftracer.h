/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DFTracer's API for C and C++, as regions of dltraced.h: a program for DFTracer is compiled against this instead,
 * without an edit and without a library. It has no files of its own: log files and data folders of DFTRACER_*_INIT are
 * ignored. Functions are regions of the category C_APP or CPP_APP. DFTRACER_ENABLE=0 in the environment switches them
 * off.
 */
#ifndef DLTRACED_DFTRACER_H
#define DLTRACED_DFTRACER_H

#include <stdlib.h>
#include <string.h>

#include <dltraced.h>

#define DF_DATA_EVENT 0
#define DF_METADATA_EVENT 1

typedef unsigned long long int TimeResolution;
typedef unsigned long int ThreadID;
typedef int ProcessID;
typedef char *EventNameType;
typedef const char *ConstEventNameType;
typedef char *HashType;

__attribute__((unused)) static ConstEventNameType C_LOG_CATEGORY = "C_APP";
__attribute__((unused)) static ConstEventNameType CPP_LOG_CATEGORY = "CPP_APP";

#ifdef __cplusplus
extern "C" {
#endif

/* A region with its name, which is "category.name". */
struct DFTracerData {
	dltraced_region region;
	char name[DLTRACED_NAME_MAX + 1];
};

/* --- details ---------------------------------------------------------------------------------------------- */

static inline int dftracer_on_(void)
{
	const char *env = getenv("DFTRACER_ENABLE");

	return !env || !env[0] || (env[0] == '1' && !env[1]);
}

/* Puts CAT.NAME, cut to SIZE. A dot within CAT would end it. */
static inline void dftracer_name_(char *p, size_t size, const char *cat, const char *name)
{
	size_t at = 0;

	for (; cat && *cat && at + 2 < size; cat++)
		p[at++] = (char)(*cat == '.' ? '_' : *cat);
	p[at++] = '.';
	for (; name && *name && at + 1 < size; name++)
		p[at++] = *name;
	p[at] = '\0';
}

static inline void dftracer_update_int_(dltraced_region *r, const char *key, int64_t value)
{
	if (!strcmp(key, "epoch"))
		r->epoch = value;
	else if (!strcmp(key, "step"))
		r->step = value;
	else
		dltraced_update_int(r, key, value);
}

/* --- DFTracer's functions --------------------------------------------------------------------------------- */

static inline void initialize_main(const char *log_file, const char *data_dirs, int *process_id)
{
	(void)log_file;
	(void)data_dirs;
	(void)process_id;
}

static inline void initialize_no_bind(const char *log_file, const char *data_dirs, int *process_id)
{
	initialize_main(log_file, data_dirs, process_id);
}

static inline void finalize(void)
{
}

static inline void mark_used(const char *name)
{
	(void)name;
}

static inline void set_app_metadata_string(const char *key, const char *value)
{
	if (key && value && dftracer_on_())
		dltraced_meta(key, value);
}

static inline void set_app_metadata_int(const char *key, int value)
{
	dltraced_region r;
	char text[16];

	/* the digits behind "=" of an argument */
	memset(&r, 0, sizeof(r));
	dltraced_update_int(&r, "", value);
	memcpy(text, r.args + 1, r.args_len - 1u);
	text[r.args_len - 1] = '\0';
	set_app_metadata_string(key, text);
}

/* Returns NULL where it is switched off, there is no memory, or for metadata, a row at once: all below take NULL. */
static inline struct DFTracerData *initialize_region(ConstEventNameType name, ConstEventNameType cat, int event_type)
{
	struct DFTracerData *data;

	if (event_type == DF_METADATA_EVENT)
		set_app_metadata_string(name, cat);
	if (event_type == DF_METADATA_EVENT || !dftracer_on_())
		return NULL;
	data = (struct DFTracerData *)malloc(sizeof(*data));
	if (!data)
		return NULL;
	dftracer_name_(data->name, sizeof(data->name), cat, name);
	dltraced_begin(&data->region, data->name);
	return data;
}

static inline void finalize_region(struct DFTracerData *data)
{
	if (data)
		dltraced_end(&data->region);
	free(data);
}

static inline void finalize_region_cleanup(struct DFTracerData **data)
{
	finalize_region(*data);
	*data = NULL;
}

static inline void update_metadata_int(struct DFTracerData *data, const char *key, int value)
{
	if (data && key)
		dftracer_update_int_(&data->region, key, value);
}

static inline void update_metadata_string(struct DFTracerData *data, const char *key, const char *value)
{
	if (data && key && value)
		dltraced_update_str(&data->region, key, value);
}

static inline void update_metadata_int_type(struct DFTracerData *data, const char *key, int value, int type)
{
	(void)type;
	update_metadata_int(data, key, value);
}

static inline void update_metadata_string_type(struct DFTracerData *data, const char *key, const char *value, int type)
{
	(void)type;
	update_metadata_string(data, key, value);
}

/* --- C ---------------------------------------------------------------------------------------------------- */

#define DFTRACER_C_INIT(log_file, data_dirs, process_id) initialize_main(log_file, data_dirs, process_id);
#define DFTRACER_C_INIT_NO_BIND(log_file, data_dirs, process_id) initialize_no_bind(log_file, data_dirs, process_id);
#define DFTRACER_C_FINI() finalize()
#define DFTRACER_C_APP_METADATA_INT(key, val) set_app_metadata_int(key, val);
#define DFTRACER_C_APP_METADATA_STR(key, val) set_app_metadata_string(key, val);
#define DFTRACER_C_MARK_USED(name) mark_used(name);
#define DFTRACER_C_REGION_CLEANUP __attribute__((cleanup(finalize_region_cleanup)))

#define DFTRACER_C_FUNCTION_START()                              \
	struct DFTracerData *data_fn DFTRACER_C_REGION_CLEANUP = \
		initialize_region(__func__, C_LOG_CATEGORY, DF_DATA_EVENT);
#define DFTRACER_C_FUNCTION_END() finalize_region_cleanup(&data_fn);
#define DFTRACER_C_REGION_START(name)                                \
	struct DFTracerData *data_##name DFTRACER_C_REGION_CLEANUP = \
		initialize_region(#name, C_LOG_CATEGORY, DF_DATA_EVENT);
#define DFTRACER_C_REGION_END(name) finalize_region_cleanup(&data_##name);
#define DFTRACER_C_METADATA(name, key, val) set_app_metadata_string(key, val);

#define DFTRACER_C_FUNCTION_UPDATE_INT(key, val) update_metadata_int(data_fn, key, val);
#define DFTRACER_C_FUNCTION_UPDATE_STR(key, val) update_metadata_string(data_fn, key, val);
#define DFTRACER_C_REGION_UPDATE_INT(name, key, val) update_metadata_int(data_##name, key, val);
#define DFTRACER_C_REGION_UPDATE_STR(name, key, val) update_metadata_string(data_##name, key, val);
#define DFTRACER_C_FUNCTION_UPDATE_INT_TYPE(key, val, type) update_metadata_int_type(data_fn, key, val, type);
#define DFTRACER_C_FUNCTION_UPDATE_STR_TYPE(key, val, type) update_metadata_string_type(data_fn, key, val, type);
#define DFTRACER_C_REGION_UPDATE_INT_TYPE(name, key, val, type) update_metadata_int_type(data_##name, key, val, type);
#define DFTRACER_C_REGION_UPDATE_STR_TYPE(name, key, val, type) \
	update_metadata_string_type(data_##name, key, val, type);

#ifdef __cplusplus
} /* extern "C" */

/* --- C++ -------------------------------------------------------------------------------------------------- */

enum MetadataType : uint8_t { MT_KEY = 0, MT_VALUE = 1, MT_IGNORE = 2 };
enum TraceEventType : uint8_t { TRACE_TYPE_UNKNOWN = 0, TRACE_TYPE_C_APP = 2, TRACE_TYPE_CPP_APP = 9 };

/* A region until its scope is left, also by an exception (RET -1), or a fact, which is a row at once. */
class DFTracer
{
      public:
	DFTracer(ConstEventNameType name_, ConstEventNameType cat_, int event_type = DF_DATA_EVENT,
		 TraceEventType = TRACE_TYPE_CPP_APP)
	    : name(name_, cat_, event_type), made(name.text)
	{
		if (!name.on)
			made.name = NULL;
	}
	DFTracer(const DFTracer &) = delete;
	DFTracer &operator=(const DFTracer &) = delete;

	void update(const char *key, int value, MetadataType = MT_KEY)
	{
		dftracer_update_int_(&made, key, value);
	}
	void update(const char *key, const char *value, MetadataType = MT_KEY)
	{
		made.update(key, value);
	}
	void finalize()
	{
		made.end();
	}

      private:
	struct full_name {
		char text[DLTRACED_NAME_MAX + 1];
		bool on;

		full_name(ConstEventNameType name, ConstEventNameType cat, int event_type)
		    : on(event_type != DF_METADATA_EVENT && dftracer_on_())
		{
			if (event_type == DF_METADATA_EVENT)
				set_app_metadata_string(name, cat);
			dftracer_name_(text, sizeof(text), cat, name);
		}
	} name;
	dltraced::region made;
};

#define DFTRACER_CPP_INIT(log_file, data_dirs, process_id) initialize_main(log_file, data_dirs, process_id);
#define DFTRACER_CPP_INIT_NO_BIND(log_file, data_dirs, process_id) initialize_no_bind(log_file, data_dirs, process_id);
#define DFTRACER_CPP_FINI() finalize()
#define DFTRACER_CPP_APP_METADATA_INT(key, val) set_app_metadata_int(key, val);
#define DFTRACER_CPP_APP_METADATA_STR(key, val) set_app_metadata_string(key, val);
#define DFTRACER_CPP_MARK_USED(name) mark_used(name);
#define DFTRACER_CPP_FUNCTION() DFTracer profiler_dft_fn(__FUNCTION__, CPP_LOG_CATEGORY, DF_DATA_EVENT);
#define DFTRACER_CPP_METADATA(name, key, value) set_app_metadata_string(key, value);
#define DFTRACER_CPP_REGION(name) DFTracer profiler_##name(#name, CPP_LOG_CATEGORY, DF_DATA_EVENT);
#define DFTRACER_CPP_REGION_START(name) \
	DFTracer *profiler_##name = new DFTracer(#name, CPP_LOG_CATEGORY, DF_DATA_EVENT);
#define DFTRACER_CPP_REGION_END(name) delete profiler_##name
#define DFTRACER_CPP_FUNCTION_UPDATE(key, val) profiler_dft_fn.update(key, val);
#define DFTRACER_CPP_FUNCTION_UPDATE_TYPE(key, val, type) profiler_dft_fn.update(key, val, type);
#define DFTRACER_CPP_REGION_UPDATE(name, key, val) profiler_##name.update(key, val);
#define DFTRACER_CPP_REGION_DYN_UPDATE(name, key, val) profiler_##name->update(key, val);
#define DFTRACER_CPP_REGION_UPDATE_TYPE(name, key, val, type) profiler_##name.update(key, val, type);
#define DFTRACER_CPP_REGION_DYN_UPDATE_TYPE(name, key, val, type) profiler_##name->update(key, val, type);
#endif

#endif
