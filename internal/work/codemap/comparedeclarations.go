package codemap

// FileDeclaration is something that a file declares.
type FileDeclaration struct {
	Line int
	Name string
	Text string // its short signature
	Was  string // its signature before; empty if unknown or unchanged
}

// DeclarationChanges describes the effects of a change on the names that a file declares for others.
type DeclarationChanges struct {
	Made    []FileDeclaration // new names, by line
	Changed []FileDeclaration // names with another signature, by line
	Gone    []FileDeclaration // removed names, by their previous line
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
	old, texts := map[string][]declarationLine{}, map[string]bool{}
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
			c.Changed = append(c.Changed, FileDeclaration{d.line, d.name, printableText(d.text), printableText(same[0].text)})
		default:
			c.Made = append(c.Made, FileDeclaration{Line: d.line, Name: d.name, Text: printableText(d.text)})
		}
	}
	for _, d := range was {
		if !now[d.name] {
			c.Gone = append(c.Gone, FileDeclaration{Line: d.line, Name: d.name, Text: printableText(d.text)})
		}
	}
	return c
}

// publicDeclarations returns the declarations for others.
func publicDeclarations(o fileOutline) []declarationLine {
	var all []declarationLine
	for _, d := range o.declares {
		if !d.private && !d.member {
			all = append(all, d)
		}
	}
	return all
}
