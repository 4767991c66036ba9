package codemap

// Name is something that a file declares.
type Name struct {
	Line int
	Name string
	Text string // its signature, in short
	Was  string // the one that it had before; empty where that is not known, or the same
}

// Compared is what a change does to what a file declares for others.
type Compared struct {
	Made    []Name // by line
	Changed []Name // by line
	Gone    []Name // by the line that they had
}

// Compare returns what a file declares for others after a change and did not
// before, and the other way round. Of a file in no known language, of tests, and of
// what was generated that is nothing.
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

// open returns what is declared for others.
func open(o outline) []declared {
	var all []declared
	for _, d := range o.declares {
		if !d.private && !d.member {
			all = append(all, d)
		}
	}
	return all
}
