package projection

// KeyBindings are the keys of what people do in more than one face, by the names that the
// terminal interface has for it.
func KeyBindings() map[string]string {
	return map[string]string{
		"approve": "a", "reject": "x", "answer": "i", "tell": "m", "interrupt": "I", "pause": "p", "pause-run": "P",
		"skip": "s", "retry": "r", "retry-tell": "R", "stop": "S", "land": "M", "undo": "U",
		"comment": "c", "suggest": "C", "select": "v", "resolve": "z", "apply": "Z", "send": "b", "viewed": "space",
		"next-file": "n", "previous-file": "N", "next-hunk": "}", "previous-hunk": "{",
		"down": "j", "up": "k", "open": "enter", "filter": "/", "help": "?",
	}
}
