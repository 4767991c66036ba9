package codemap

// DeclaredName is something that a file declares.
type DeclaredName struct {
	Line int
	Name string
	Text string // its short signature
	Was  string // its signature before; empty if unknown or unchanged
}

// DeclarationChanges describes the effects of a change on the names that a file declares for others.
type DeclarationChanges struct {
	Made    []DeclaredName // new names, by line
	Changed []DeclaredName // names with another signature, by line
	Gone    []DeclaredName // removed names, by their previous line
}

// CompareDeclarations compares the names that a file declares for others before and after a change. The
// result is empty for a file in an unknown language, a test, and a generated file.
func CompareDeclarations(file, before, after string) DeclarationChanges {
	lang, shown := languageOf(knownLanguages(), file)
	if lang == nil || !shown {
		return DeclarationChanges{}
	}
	var c DeclarationChanges
	was, is := publicDeclarations(lang.outlineText(before)), publicDeclarations(lang.outlineText(after))
	old, texts := map[string][]declaredLine{}, map[string]bool{}
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
			c.Changed = append(c.Changed, DeclaredName{d.line, d.name, printableText(d.text), printableText(same[0].text)})
		default:
			c.Made = append(c.Made, DeclaredName{Line: d.line, Name: d.name, Text: printableText(d.text)})
		}
	}
	for _, d := range was {
		if !now[d.name] {
			c.Gone = append(c.Gone, DeclaredName{Line: d.line, Name: d.name, Text: printableText(d.text)})
		}
	}
	return c
}

// publicDeclarations returns the declarations for others.
func publicDeclarations(o fileOutline) []declaredLine {
	var all []declaredLine
	for _, d := range o.declares {
		if !d.private && !d.member {
			all = append(all, d)
		}
	}
	return all
}
