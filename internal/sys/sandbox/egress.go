package sandbox

import (
	"context"
	"os"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/jail"
)

// CheckEgress returns an error if commands in the box cannot have restricted network access.
func (b *Box) CheckEgress() error {
	if b.mode != ModeLandlock {
		return nil
	}
	return &nexus.Error{
		Code: nexus.CodeSandbox, Message: "the sandbox landlock cannot allow a list of hosts: it knows ports but no addresses, so the proxy's port would be open on every host",
		Hint: "Allow user namespaces or install bubblewrap, or do without: network.mode = \"off\".",
	}
}

// addEgress adds the proxy's settings to a command with network access, and returns a cleanup
// function.
func (b *Box) addEgress(ctx context.Context, c Command) (Command, func(), error) {
	if c.Proxy == nil {
		return c, func() {}, nil
	}
	if err := b.CheckEgress(); err != nil {
		return c, nil, err
	}
	port, done := jail.ProxyPort, func() {}
	if !b.HidesHost() { // it can reach every host directly; the proxy checks only its own clients
		var err error
		if port, done, err = serveLocal(ctx, c.Proxy); err != nil {
			return c, nil, err
		}
	}
	_, vars := certificateVars(os.Environ())
	c.Env = slices.Concat(c.Env, vars, proxyEnv(port))
	return c, done, nil
}
