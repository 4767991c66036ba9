package worker

import (
	"context"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
)

// renewals is how often it is looked whether a program renewed its login. Others
// who work with the same one need it before they ask for a new one themselves.
const renewals = 2 * time.Second

// loginSync keeps the copy of a login in step with the user's own.
type loginSync struct {
	login agentcli.Login
	learn func(secret string) // makes masks know another; may be nil

	mu     sync.Mutex // guards what follows, and that one at a time looks
	all    []nexus.AgentRenewed
	broken bool // what was done cannot be remembered
}

// ready gives the program the user's login, where that is newer than the copy.
func (k *loginSync) ready() (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.renew()
	fresh, secrets, err := k.login.Copy()
	k.learnt(secrets)
	return fresh, err
}

// renewed returns what was renewed since it was asked last.
func (k *loginSync) renewed() []nexus.AgentRenewed {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.renew()
	all := k.all
	k.all = nil
	return all
}

// renew writes back what the program renewed. The lock is held.
func (k *loginSync) renew() {
	if k.broken {
		return
	}
	all, secrets, err := k.login.Renew()
	k.learnt(secrets)
	for _, r := range all {
		k.all = append(k.all, nexus.AgentRenewed{File: r.File, Kept: r.Kept})
	}
	if err != nil {
		k.broken, k.all = true, append(k.all, nexus.AgentRenewed{Kept: err.Error()})
	}
}

func (k *loginSync) learnt(secrets []string) {
	for _, s := range secrets {
		if k.learn != nil {
			k.learn(s)
		}
	}
}

// watch looks again and again until the context ends, and closes gone then.
func (k *loginSync) watch(ctx context.Context) (gone <-chan struct{}) {
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
				k.renew()
				k.mu.Unlock()
			}
		}
	}()
	return over
}
