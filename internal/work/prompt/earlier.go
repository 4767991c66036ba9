package prompt

// EarlierTitle is the heading of what was learned from earlier tasks.
const EarlierTitle = "From earlier tasks"

// earlier tells a coder which files earlier tasks like its own read and changed.
func earlier(text string) Section {
	return Section{
		Title: EarlierTitle, Body: text, Rank: 2,
		Lead: "What landed tasks that declare the same files or directories needed. It is a hint, not a rule.",
	}
}
