package sandbox

import (
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// offline returns variables with which clients of registries fail at once, with a reason, in a box
// without a network. Without them many retry for a minute. They can still install packages that
// they fetched before and that a lock file names.
func offline() []string { return stack.Environments().Offline }

// unreachedIn reports whether a text is the output of a client that found no network, in its own
// words or in those of its offline mode.
func unreachedIn(text string) bool {
	return strings.ContainsAny(text, " ") && unreached().MatchString(text)
}

func unreached() *regexp.Regexp {
	return regexp.MustCompile(strings.Join(stack.NoNetworkPatterns(), "|"))
}
