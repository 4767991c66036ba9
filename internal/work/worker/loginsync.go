package worker

import (
	"context"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
)

// renewals is the interval of checking whether a program renewed its login. Other programs
// with the same login need it before they request a new one themselves.
const renewals = 2 * time.Second

// agentLoginSync synchronizes the copy of a login with the user's own.
type agentLoginSync struct {
	login agentcli.AgentProgramLogin
	learn func(secret string) // adds a secret to the masks; may be nil

	mu     sync.Mutex // guards the fields below, and serializes the checks
	all    []nexus.AgentLoginRenewed
	broken bool // the state cannot be stored
}

// refreshProgramLogin copies the user's login to the program, if that is newer than the copy.
func (k *agentLoginSync) refreshProgramLogin() (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.writeBackRenewedLogin()
	fresh, secrets, err := k.login.CopyFiles()
	k.registerSecrets(secrets)
	return fresh, err
}

// takeLoginRenewals returns the renewals since the last call.
func (k *agentLoginSync) takeLoginRenewals() []nexus.AgentLoginRenewed {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.writeBackRenewedLogin()
	all := k.all
	k.all = nil
	return all
}

// writeBackRenewedLogin writes the program's renewed login back. The caller holds the lock.
func (k *agentLoginSync) writeBackRenewedLogin() {
	if k.broken {
		return
	}
	all, secrets, err := k.login.WriteBack()
	k.registerSecrets(secrets)
	for _, r := range all {
		k.all = append(k.all, nexus.AgentLoginRenewed{File: r.File, Kept: r.Kept})
	}
	if err != nil {
		k.broken, k.all = true, append(k.all, nexus.AgentLoginRenewed{Kept: err.Error()})
	}
}

func (k *agentLoginSync) registerSecrets(secrets []string) {
	for _, s := range secrets {
		if k.learn != nil {
			k.learn(s)
		}
	}
}

// watchLoginRenewals checks periodically until the context ends, and closes gone then.
func (k *agentLoginSync) watchLoginRenewals(ctx context.Context) (gone <-chan struct{}) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		tick := time.NewTicker(renewals)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				k.mu.Lock()
				k.writeBackRenewedLogin()
				k.mu.Unlock()
			}
		}
	}()
	return over
}
