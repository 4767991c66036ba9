package config

// changeDefaults changes the defaults that [DefaultConfig] returns. It is nil in the program.
var changeDefaults func(*Config) //nolint:gochecknoglobals // stories run as processes, which set it before anything else

// ChangeDefaultsForTest changes values that are no settings for the rest of the process, so that a story or a test
// needs fewer tasks, faults or minutes. It returns the function that takes the change back.
func ChangeDefaultsForTest(change func(*Config)) (restore func()) {
	before := changeDefaults
	changeDefaults = change
	return func() { changeDefaults = before }
}
