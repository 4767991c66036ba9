package codemap

// Name is something that a file declares.
type Name struct {
	Line int
	Name string
	Text string // its short signature
	Was  string // its signature before; empty if unknown or unchanged
}

// Compared describes the effects of a change on the names that a file declares for others.
type Compared struct {
	Made    []Name // new names, by line
	Changed []Name // names with another signature, by line
	Gone    []Name // removed names, by their previous line
}

// Compare compares the names that a file declares for others before and after a change. The
// result is empty for a file in an unknown language, a test, and a generated file.
func Compare(file, before, after string) Compared {
	lang, shown := of(languages(), file)
	if lang == nil || !shown {
		return Compared{}
	}
	var c Compared
	was, is := open(lang.outline(before)), open(lang.outline(after))
	old, texts := map[string][]declared{}, map[string]bool{}
	for _, d := range was {
		old[d.name] = append(old[d.name], d)
		texts[d.text] = true
	}
	now := map[string]bool{}
	for _, d := range is {
		now[d.name] = true
		switch same := old[d.name]; {
		case texts[d.text]:
		case len(same) == 1:
			c.Changed = append(c.Changed, Name{d.line, d.name, plain(d.text), plain(same[0].text)})
		default:
			c.Made = append(c.Made, Name{Line: d.line, Name: d.name, Text: plain(d.text)})
		}
	}
	for _, d := range was {
		if !now[d.name] {
			c.Gone = append(c.Gone, Name{Line: d.line, Name: d.name, Text: plain(d.text)})
		}
	}
	return c
}

// open returns the declarations for others.
func open(o outline) []declared {
	var all []declared
	for _, d := range o.declares {
		if !d.private && !d.member {
			all = append(all, d)
		}
	}
	return all
}
