package projection

// KeyBindings returns the keys of actions that exist in several interfaces, by their names in the
// terminal interface.
func KeyBindings() map[string]string {
	return map[string]string{
		"approve": "a", "reject": "x", "answer": "i", "tell": "m", "interrupt": "I", "pause": "p", "pause-run": "P",
		"skip": "s", "retry": "r", "retry-tell": "R", "stop": "S", "land": "M", "undo": "U",
		"comment": "c", "suggest": "C", "select": "v", "resolve": "z", "apply": "Z", "send": "b", "viewed": "space",
		"next-file": "n", "previous-file": "N", "next-hunk": "}", "previous-hunk": "{",
		"down": "j", "up": "k", "open": "enter", "filter": "/", "help": "?",
	}
}
