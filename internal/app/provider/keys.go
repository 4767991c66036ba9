package provider

import (
	"slices"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/sys/apikey"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// keys finds the key of every provider once.
type keys struct {
	store apikey.Store

	mu    sync.Mutex // guards found
	found map[string]apikey.Key
}

func newKeys(s apikey.Store) *keys { return &keys{store: s, found: map[string]apikey.Key{}} }

// find returns the key of a provider, the zero Key if it has none. With the first key, the
// memory of this process becomes unreadable for other processes.
func (k *keys) find(provider, variable string) (apikey.Key, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if found, ok := k.found[provider]; ok {
		return found, nil
	}
	found, err := k.store.Find(provider, variable)
	if err != nil {
		return apikey.Key{}, err
	}
	if found.Value() != "" {
		apikey.Guard()
	}
	k.found[provider] = found
	return found, nil
}

// With sets the store of the keys, the environment alone for the zero Store, and the transport
// of all requests. It returns the models.
func (m *Models) With(s apikey.Store, t RecordingTransport) *Models {
	if s.Env != nil {
		m.keys = newKeys(s)
	}
	m.tap = t
	return m
}

// key returns the key of a provider, "" if it has none. A replayed provider needs none.
func (m *Models) key(provider string) (string, error) {
	if m.tap.player != nil {
		if slices.Contains(m.tap.player.Providers(), provider) {
			return "replayed", nil
		}
		return "", nil
	}
	found, err := m.keys.find(provider, keyVariable(m.provider(provider), provider))
	return found.Value(), err
}

// hasKey reports whether a provider has a key.
func (m *Models) hasKey(provider string) bool {
	found, err := m.key(provider)
	return err == nil && found != ""
}

// Variables returns the known providers, with the variables that may hold their keys.
func Variables(c config.Config) map[string]string {
	all := map[string]string{}
	for _, k := range KnownProviders() {
		all[k.Name] = keyVariable(c.Providers[k.Name], k.Name)
	}
	for name, p := range c.Providers {
		all[name] = keyVariable(p, name)
	}
	return all
}
