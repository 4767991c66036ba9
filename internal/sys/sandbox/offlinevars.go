package sandbox

import (
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// offlineVars returns variables with which clients of registries fail at once, with a reason, in a box
// without a network. Without them many retry for a minute. They can still install packages that
// they fetched before and that a lock file names.
func offlineVars() []string { return stack.MergedEnvironment().Offline }

// isNetworkFailure reports whether a text is the output of a client that found no network, in its own
// words or in those of its offline mode.
func isNetworkFailure(text string) bool {
	return strings.ContainsAny(text, " ") && noNetworkPattern().MatchString(text)
}

func noNetworkPattern() *regexp.Regexp {
	return regexp.MustCompile(strings.Join(stack.NoNetworkPatterns(), "|"))
}
