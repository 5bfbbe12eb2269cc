# The style sheet of the page is part of wakewhy: the bytes of page.css, without its comments and
# indents.
$(B)/page_css.h: user/render/page.css user/render/render.mk
	$(call say,EMBED,$@)
	$(Q)mkdir -p $(@D)
	$(Q)sed -e 's|/\*[^*]*\*/||g' -e 's/^[[:space:]]*//' -e '/^$$/d' $< | \
		od -An -v -tx1 | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g' > $@.tmp && mv $@.tmp $@

$(B)/user/render/html_style.o: $(B)/page_css.h
