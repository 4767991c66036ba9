package tool

// Defaults for commands.
const (
	ShellTime  = shellTime
	ShellShown = shellShown // bytes of a command's output that a model sees
)
