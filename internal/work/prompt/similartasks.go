package prompt

// EarlierTitle is the heading of the lessons of earlier tasks.
const EarlierTitle = "From earlier tasks"

// similarTasksSection returns a coder's section about the files that similar earlier tasks read and
// changed.
func similarTasksSection(text string) PromptSection {
	return PromptSection{
		Title: EarlierTitle, Body: text, Rank: 2,
		Lead: "What landed tasks that declare the same files or directories needed. It is a hint, not a rule.",
	}
}
