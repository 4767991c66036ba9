package tool

// What holds for commands unless more is asked for.
const (
	ShellTime  = shellTime
	ShellShown = shellShown // bytes of a command's output that a model sees
)
