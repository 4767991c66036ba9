package provider

import (
	"slices"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/sys/apikey"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// providerKeyCache finds the key of every provider once.
type providerKeyCache struct {
	store apikey.KeyStore

	mu    sync.Mutex // guards found
	found map[string]apikey.APIKey
}

func newProviderKeyCache(s apikey.KeyStore) *providerKeyCache {
	return &providerKeyCache{store: s, found: map[string]apikey.APIKey{}}
}

// findKey returns the key of a provider, the zero Key if it has none. With the first key, the
// memory of this process becomes unreadable for other processes.
func (k *providerKeyCache) findKey(provider, variable string) (apikey.APIKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if found, ok := k.found[provider]; ok {
		return found, nil
	}
	found, err := k.store.Find(provider, variable)
	if err != nil {
		return apikey.APIKey{}, err
	}
	if found.Value() != "" {
		apikey.ProtectMemory()
	}
	k.found[provider] = found
	return found, nil
}

// UseKeysAndTransport sets the store of the keys, the environment alone for the zero Store, and the transport
// of all requests. It returns the models.
func (m *ModelPicker) UseKeysAndTransport(s apikey.KeyStore, t RecordingTransport) *ModelPicker {
	if s.Env != nil {
		m.keys = newProviderKeyCache(s)
	}
	m.tap = t
	return m
}

// providerKey returns the key of a provider, "" if it has none. A replayed provider needs none.
func (m *ModelPicker) providerKey(provider string) (string, error) {
	if m.tap.player != nil {
		if slices.Contains(m.tap.player.ProviderNames(), provider) {
			return "replayed", nil
		}
		return "", nil
	}
	found, err := m.keys.findKey(provider, keyVariable(m.providerSettings(provider), provider))
	return found.Value(), err
}

// hasKey reports whether a provider has a key.
func (m *ModelPicker) hasKey(provider string) bool {
	found, err := m.providerKey(provider)
	return err == nil && found != ""
}

// ProviderKeyVariables returns the known providers, with the variables that may hold their keys.
func ProviderKeyVariables(c config.Config) map[string]string {
	all := map[string]string{}
	for _, k := range BuiltinProviders() {
		all[k.Name] = keyVariable(c.Providers[k.Name], k.Name)
	}
	for name, p := range c.Providers {
		all[name] = keyVariable(p, name)
	}
	return all
}
