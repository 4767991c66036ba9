package codemap

// Sketch draws one file as a map does.
func Sketch(name, text string) string {
	f := file{path: name}
	if f.lang, f.shown = of(languages(), name); f.lang == nil {
		return plain(name)
	}
	f.outline = f.lang.outline(text)
	x := index{whole: map[string]int{}, dirs: map[string]string{}}
	x.add(name, 0, f.lang.Stands)
	for _, i := range f.imports {
		x.find(name, i, true)
		x.find(name, i, false)
	}
	var all []shown
	for _, d := range f.declares {
		all = append(all, shown{declared: d})
	}
	return f.draw(all, maxDeclared)
}
