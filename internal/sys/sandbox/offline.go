package sandbox

import (
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// offline returns variables that let clients of registries fail at once, and
// say why, in a box without a network. Without them many try again for a
// minute. What they fetched before, and a lock file names, they still install.
func offline() []string { return stack.Environments().Offline }

// unreachedIn reports whether a text is what a client prints that found no
// network, in its own words or in those of its offline mode.
func unreachedIn(text string) bool {
	return strings.ContainsAny(text, " ") && unreached().MatchString(text)
}

func unreached() *regexp.Regexp {
	return regexp.MustCompile(strings.Join(stack.NoNetworkPatterns(), "|"))
}
