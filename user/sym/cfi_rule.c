/* Steps from a frame to its caller's by libdwfl, one function at a time.
 *
 * libdwfl wants an address space of modules, each an ELF file, and walks a whole stack through it. What it is
 * given here is one module, as long as one function: so it parses nothing that was not checked, keeps nothing
 * that grows, and opens no file. */
#include "sym/cfi_rule.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sym/unwind_arch.h"

#define TID 1 /* the one thread, to libdwfl */

/* ---- the image --------------------------------------------------------------------------------- */

/* What precedes the entries. */
struct image_head {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[3];
	char names[24];
};

static const char image_names[24] = "\0.eh_frame\0.shstrtab";

struct image {
	uint8_t *bytes;
	size_t n;
};

static void put(struct image *image, const void *bytes, size_t n)
{
	if (n)
		memcpy(image->bytes + image->n, bytes, n);
	image->n += n;
}

static void put_number(struct image *image, uint64_t number, size_t n)
{
	put(image, &number, n);
}

static void put_sleb(struct image *image, int64_t number)
{
	for (;;) {
		uint8_t byte = number & 0x7f;

		/* The sign goes along, as both compilers promise. */
		/* cppcheck-suppress shiftNegativeLHS */
		number >>= 7;
		if ((number == 0 && !(byte & 0x40)) || (number == -1 && (byte & 0x40))) {
			put_number(image, byte, 1);
			return;
		}
		put_number(image, byte | 0x80, 1);
	}
}

/* Nops to the next multiple of 8; then the length at `start` is known. */
static void end_entry(struct image *image, size_t start)
{
	uint32_t length;

	while (image->n % 8)
		put_number(image, DW_CFA_nop, 1);
	length = (uint32_t)(image->n - start - 4);
	memcpy(image->bytes + start, &length, sizeof(length));
}

static void put_common(struct image *image, const struct cfi_common *common)
{
	size_t start = image->n;

	put_number(image, 0, 4); /* length, set at the end */
	put_number(image, 0, 4); /* a CIE */
	put_number(image, 1, 1); /* version */
	put(image, common->signal ? "zRS" : "zR", common->signal ? 4 : 3);
	/* Unsigned, yet below 2^13: the same bytes, with a zero more where bit 6 is set. */
	put_sleb(image, (int64_t)common->code_align);
	put_sleb(image, common->data_align);
	put_number(image, common->return_reg, 1);
	put_number(image, 1, 1); /* of augmentation data: */
	put_number(image, DW_EH_PE_absptr, 1);
#ifdef __x86_64__
	/* libdw 0.188 takes rax for rbx among the registers that calls keep (x86_64_cfi.c). */
	put(image, (const uint8_t[]){DW_CFA_same_value, 3, DW_CFA_undefined, 0}, 4);
#endif
	put(image, common->program, common->program_bytes);
	end_entry(image, start);
}

static void put_function(struct image *image, const struct cfi_entry *entry, uint64_t bias,
			 size_t common_at)
{
	size_t start = image->n;

	put_number(image, 0, 4); /* length, set at the end */
	put_number(image, image->n - common_at, 4);
	put_number(image, entry->start + bias, 8);
	put_number(image, entry->end - entry->start, 8);
	put_number(image, 0, 1); /* no augmentation data */
	put(image, entry->program, entry->program_bytes);
	end_entry(image, start);
}

/* Addresses are those of the process: the image is linked to where the code was mapped. */
static void put_head(struct image *image, const struct cfi_entry *entry, uint64_t bias,
		     size_t frames_bytes)
{
	struct image_head *head = (struct image_head *)(void *)image->bytes;

	memcpy(head->names, image_names, sizeof(image_names));
	memcpy(head->header.e_ident, ELFMAG, SELFMAG);
	head->header.e_ident[EI_CLASS] = ELFCLASS64;
	head->header.e_ident[EI_DATA] = ELFDATA2LSB;
	head->header.e_ident[EI_VERSION] = EV_CURRENT;
	head->header.e_type = ET_EXEC;
	head->header.e_machine = UNWIND_MACHINE;
	head->header.e_version = EV_CURRENT;
	head->header.e_ehsize = sizeof(head->header);
	head->header.e_phoff = offsetof(struct image_head, segment);
	head->header.e_phentsize = sizeof(head->segment);
	head->header.e_phnum = 1;
	head->header.e_shoff = offsetof(struct image_head, sections);
	head->header.e_shentsize = sizeof(head->sections[0]);
	head->header.e_shnum = 3;
	head->header.e_shstrndx = 2;
	head->segment = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_vaddr = entry->start + bias,
		.p_memsz = entry->end - entry->start,
		.p_align = 1,
	};
	head->sections[1] = (Elf64_Shdr){
		.sh_name = 1,
		.sh_type = SHT_PROGBITS,
		.sh_offset = sizeof(*head),
		.sh_size = frames_bytes,
		.sh_addralign = 8,
	};
	head->sections[2] = (Elf64_Shdr){
		.sh_name = 11,
		.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct image_head, names),
		.sh_size = sizeof(head->names),
		.sh_addralign = 1,
	};
}

static struct image image_make(const struct cfi_entry *entry, uint64_t bias)
{
	/* Fixed parts of both entries and their padding are below 128; zeros at the end are the terminator, and
	 * what libdw may read too far. */
	size_t max = sizeof(struct image_head) + entry->common.program_bytes + entry->program_bytes;
	struct image image = {.bytes = mem_zalloc(max + 128 + 32), .n = sizeof(struct image_head)};

	put_common(&image, &entry->common);
	put_function(&image, entry, bias, sizeof(struct image_head));
	put_number(&image, 0, 8);
	put_head(&image, entry, bias, image.n - sizeof(struct image_head));
	return image;
}

/* ---- what libdwfl asks ------------------------------------------------------------------------- */

/* The step that is being made. */
struct step {
	struct unwind_frame *frame;
	unwind_read *read;
	void *context;
	bool entered;	    /* the frame itself was shown */
	bool read_failed;
	uint64_t last_word; /* read; 1: none yet */
};

struct cfi_rule {
	struct image image;
	Elf *elf;
	Dwfl *dwfl;
	Dwfl_Module *module;
	uint64_t sources;
	uint64_t return_reg;
	bool signal;
	struct step *step;
};

static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		    char **ret_file_name, Elf **ret_elf)
{
	const struct cfi_rule *rule = *userdata;

	(void)module;
	(void)name;
	(void)base;
	(void)ret_file_name;
	*ret_elf = elf_memory((char *)rule->image.bytes, rule->image.n);
	return -1;
}

static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			  const char *file_name, const char *link, GElf_Word crc, char **ret_name)
{
	(void)module;
	(void)userdata;
	(void)name;
	(void)base;
	(void)file_name;
	(void)link;
	(void)crc;
	(void)ret_name;
	return -1;
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	(void)dwfl;
	(void)arg;
	(void)thread_arg;
	return 0;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **ret_thread_arg)
{
	(void)dwfl;
	*ret_thread_arg = arg;
	return tid == TID;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret_word, void *arg)
{
	struct step *step = ((struct cfi_rule *)arg)->step;
	uint64_t word;

	(void)dwfl;
	if (!step->read(step->context, address, &word)) {
		step->read_failed = true;
		return false;
	}
	step->last_word = *ret_word = word;
	return true;
}

static bool set_initial_registers(Dwfl_Thread *thread, void *arg)
{
	const struct unwind_frame *frame = ((struct cfi_rule *)arg)->step->frame;

	for (int i = 0; i < UNWIND_USED; i++) {
		Dwarf_Word word = frame->regs[i];

		/* arm64's pc has no number there. */
		if (i == UNWIND_PC && i != UNWIND_RETURN)
			continue;
		if ((frame->known & UNWIND_BIT(i)) &&
		    !dwfl_thread_state_registers(thread, i, 1, &word))
			return false;
	}
	dwfl_thread_state_register_pc(thread, unwind_frame_at(frame));
	return true;
}

static int take_caller(Dwfl_Frame *caller, void *arg)
{
	struct cfi_rule *rule = arg;
	struct step *step = rule->step;
	struct unwind_frame next = {.exact = rule->signal};
	Dwarf_Addr pc;

	if (!step->entered) {
		step->entered = true;
		return DWARF_CB_OK;
	}
	if (!dwfl_frame_pc(caller, &pc, NULL))
		return -1;
	next.pc = pc & UNWIND_PC_MASK;
	for (unsigned i = 0; i < UNWIND_USED; i++) {
		Dwarf_Word word;

		if (i == UNWIND_PC || dwfl_frame_reg(caller, i, &word))
			continue;
		next.regs[i] = word;
		next.known |= UNWIND_BIT(i);
	}
	next.regs[UNWIND_PC] = next.pc;
	next.known |= UNWIND_BIT(UNWIND_PC);
	*step->frame = next;
	return DWARF_CB_ABORT;
}

/* ---- rules ------------------------------------------------------------------------------------- */

static const Dwfl_Callbacks file_callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_debuginfo,
};

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = memory_read,
	.set_initial_registers = set_initial_registers,
};

static bool attach(struct cfi_rule *rule, uint64_t start, uint64_t end)
{
	void **userdata;

	rule->elf = elf_memory((char *)rule->image.bytes, rule->image.n);
	rule->dwfl = dwfl_begin(&file_callbacks);
	if (!rule->elf || !rule->dwfl)
		return false;
	dwfl_report_begin(rule->dwfl);
	rule->module = dwfl_report_module(rule->dwfl, "", start, end);
	if (!rule->module ||
	    dwfl_module_info(rule->module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL) == NULL)
		return false;
	*userdata = rule;
	return !dwfl_report_end(rule->dwfl, NULL, NULL) &&
	       dwfl_attach_state(rule->dwfl, rule->elf, TID, &thread_callbacks, rule);
}

struct cfi_rule *cfi_rule_new(const struct cfi_entry *entry, uint64_t bias)
{
	uint64_t start = entry->start + bias, end = entry->end + bias, sources;
	struct cfi_rule *rule;

	/* The highest address is libdwfl's word for none. */
	if (start >= end || end == UINT64_MAX || !cfi_check(entry, &sources))
		return NULL;
	elf_version(EV_CURRENT);
	rule = mem_zalloc(sizeof(*rule));
	rule->sources = sources;
	rule->return_reg = entry->common.return_reg;
	rule->signal = entry->common.signal;
	rule->image = image_make(entry, bias);
	if (!attach(rule, start, end)) {
		cfi_rule_free(rule);
		return NULL;
	}
	return rule;
}

void cfi_rule_free(struct cfi_rule *rule)
{
	if (!rule)
		return;
	dwfl_end(rule->dwfl);
	elf_end(rule->elf);
	free(rule->image.bytes);
	free(rule);
}

uint64_t cfi_rule_sources(const struct cfi_rule *rule)
{
	return rule->sources;
}

bool cfi_rule_is_trampoline(const struct cfi_rule *rule)
{
	return rule->signal;
}

/* CFI says of the outermost function that its return address is undefined. libdwfl ends in the same way
 * where it only could not find the address. */
static bool return_is_undefined(const struct cfi_rule *rule, uint64_t at)
{
	Dwarf_Op room[3], *ops;
	Dwarf_Frame *frame;
	Dwarf_Addr bias;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(rule->module, &bias);
	bool undefined;
	size_t n;

	if (!cfi || dwarf_cfi_addrframe(cfi, at - bias, &frame))
		return false;
	undefined = !dwarf_frame_register(frame, (int)rule->return_reg, room, &ops, &n) && !n &&
		    ops == room;
	free(frame);
	return undefined;
}

enum unwind_step cfi_rule_step(struct cfi_rule *rule, struct unwind_frame *frame, unwind_read *read,
			       void *context)
{
	struct step step = {.frame = frame, .read = read, .context = context, .last_word = 1};
	uint64_t at = unwind_frame_at(frame);
	int answer;

	rule->step = &step;
	answer = dwfl_getthread_frames(rule->dwfl, TID, take_caller, rule);
	rule->step = NULL;
	if (answer == DWARF_CB_ABORT)
		return UNWIND_MOVED;
	if (answer)
		return UNWIND_LOST;
	/* The return address comes last of what is read; some outermost frames have one of 0. */
	if (return_is_undefined(rule, at) || (!step.read_failed && step.last_word == 0))
		return UNWIND_OUTERMOST;
	return UNWIND_LOST;
}
