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
	return regexp.MustCompile(strings.Join(append([]string{ // of name servers and the kernel
		`Could not resolve host`, `[Tt]emporary failure in name resolution`, `EAI_AGAIN`, `getaddrinfo ENOTFOUND`, `Name or service not known`, `nodename nor servname`,
		`Network is unreachable`, `network is unreachable`, `UnknownHostException`, `unable to resolve host address`, `dial tcp: lookup \S+`,
	}, stack.Environments().Unreached...), "|"))
}
