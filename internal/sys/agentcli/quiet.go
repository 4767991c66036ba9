package agentcli

import "slices"

// Quiet returns the variables that switch off what a program tells its maker
// besides its work, and its updates of itself, where it has such switches and
// [Known] does not have them. Programs of a user's own get the usual one.
func Quiet(name string) []string {
	env := []string{"DO_NOT_TRACK=1"}
	if name == "goose" {
		env = append(env, "GOOSE_TELEMETRY_ENABLED=false")
	}
	return env
}

// codexQuiet is how Codex is told: it has no variables for it.
const codexQuiet = "check_for_update_on_startup = false\n\n[analytics]\nenabled = false\n\n[feedback]\nenabled = false\n"

// quietFiles are the files of a home that do the same.
func (p Program) quietFiles() map[string]string {
	if slices.Contains([]string{p.Name, p.Speaks}, "codex") {
		return map[string]string{".codex/config.toml": codexQuiet}
	}
	return nil
}
