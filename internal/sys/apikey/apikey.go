// Package apikey finds the API key of a provider: in the environment, in a private file, or in the
// desktop's keyring, in this order.
//
// A missing place is skipped silently. A file that others could read or change is an error,
// because its keys may be known to them or wrong.
package apikey

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// KeySource is a place that stores keys.
type KeySource string

// The sources in the order of their search.
const (
	sourceEnvironment KeySource = "environment"
	SourceFile        KeySource = "file"
	SourceKeyring     KeySource = "keyring"
)

// APIKey is a key with its source. It prints without its value.
type APIKey struct {
	Provider string
	Source   KeySource
	Where    string // variable, path, or name in the keyring

	value string
}

// Value returns the key itself; "" for the zero Key.
func (k APIKey) Value() string { return k.value }

// LastCharacters returns the last four characters of a key, if the key is long enough to stay secret.
func (k APIKey) LastCharacters() string {
	if len(k.value) < 24 {
		return ""
	}
	return k.value[len(k.value)-4:]
}

// Format hides the value from all printing of a Key.
func (k APIKey) Format(s fmt.State, _ rune) {
	_, _ = fmt.Fprintf(s, "key of %s from %s %s", k.Provider, k.Source, k.Where)
}

// GoString hides the value from %#v.
func (k APIKey) GoString() string { return fmt.Sprint(k) }

// SystemKeyring is a keyring. Get returns "" if there is no key.
type SystemKeyring interface {
	Get(provider string) (string, error)
	Set(provider, value string) error
	Remove(provider string) (bool, error)
}

// KeyStore describes the places of keys. A place whose field is empty is not searched.
type KeyStore struct {
	Env     func(string) string
	File    string             // path of the key file
	Keyring SystemKeyring      // nil: there is none
	Learn   func(value string) // called with every found key; may be nil
}

// Find returns the key of a provider, whose variable may be "". It returns the zero Key if there
// is none.
func (s KeyStore) Find(provider, variable string) (APIKey, error) {
	if variable != "" && s.Env != nil {
		if v := strings.TrimSpace(s.Env(variable)); v != "" {
			return s.registerKeySecret(APIKey{provider, sourceEnvironment, variable, v}), nil
		}
	}
	kept, err := readKeyFile(s.File)
	if err != nil {
		return APIKey{}, err
	}
	if v := kept[provider]; v != "" {
		return s.registerKeySecret(APIKey{provider, SourceFile, s.File, v}), nil
	}
	return s.findInKeyring(provider), nil
}

// findInKeyring returns the key in the keyring. A keyring that does not answer counts as having no
// key.
func (s KeyStore) findInKeyring(provider string) APIKey {
	if s.Keyring == nil {
		return APIKey{}
	}
	v, err := s.Keyring.Get(provider)
	if err != nil || v == "" {
		return APIKey{}
	}
	return s.registerKeySecret(APIKey{provider, SourceKeyring, keyringService, v})
}

func (s KeyStore) registerKeySecret(k APIKey) APIKey {
	if s.Learn != nil {
		s.Learn(k.value)
	}
	return k
}

// List returns every key of the providers in all places, by provider and in the order of the
// search. The map has the providers' variables. Providers that only the file names are listed too.
func (s KeyStore) List(variables map[string]string) ([]APIKey, error) {
	kept, err := readKeyFile(s.File)
	if err != nil {
		return nil, err
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(variables)), maps.Keys(kept))
	slices.Sort(names)
	var all []APIKey
	for _, provider := range slices.Compact(names) {
		if name := variables[provider]; name != "" && s.Env != nil {
			if v := strings.TrimSpace(s.Env(name)); v != "" {
				all = append(all, s.registerKeySecret(APIKey{provider, sourceEnvironment, name, v}))
			}
		}
		if v := kept[provider]; v != "" {
			all = append(all, s.registerKeySecret(APIKey{provider, SourceFile, s.File, v}))
		}
		if k := s.findInKeyring(provider); k.value != "" {
			all = append(all, k)
		}
	}
	return all, nil
}

// Set stores the key of a provider in the file or the keyring.
func (s KeyStore) Set(provider, value string, to KeySource) error {
	if err := checkProviderKey(provider, value); err != nil {
		return err
	}
	if s.Learn != nil {
		s.Learn(value)
	}
	if to != SourceKeyring {
		return changeKeyFile(s.File, func(kept map[string]string) bool {
			kept[provider] = value
			return true
		})
	}
	if s.Keyring == nil {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "there is no keyring here",
			Hint: "Leave --keyring out to keep the key in a file that only you can read.",
		}
	}
	if err := s.Keyring.Set(provider, value); err != nil {
		return &nexus.Error{
			Code: nexus.CodeStorage, Message: "keep the key in the keyring", Cause: err,
			Hint: "Unlock the keyring, or leave --keyring out to keep the key in a file.",
		}
	}
	return nil
}

// Remove deletes the key of a provider from the file and the keyring, and returns the sources that
// had it.
func (s KeyStore) Remove(provider string) ([]KeySource, error) {
	var from []KeySource
	err := changeKeyFile(s.File, func(kept map[string]string) bool {
		if _, ok := kept[provider]; !ok {
			return false
		}
		delete(kept, provider)
		from = append(from, SourceFile)
		return true
	})
	if err != nil || s.Keyring == nil {
		return from, err
	}
	if s.findInKeyring(provider).value == "" {
		return from, nil
	}
	removed, err := s.Keyring.Remove(provider)
	if err != nil {
		return from, &nexus.Error{
			Code: nexus.CodeStorage, Message: "remove the key from the keyring", Cause: err,
			Hint: "Unlock the keyring and try again.",
		}
	}
	if removed {
		from = append(from, SourceKeyring)
	}
	return from, nil
}

// checkProviderKey returns an error if a provider's name or its key is invalid.
func checkProviderKey(provider, value string) error {
	if err := CheckProvider(provider); err != nil {
		return err
	}
	plain := func(r rune) bool { return r > ' ' && r <= '~' }
	var why error
	switch {
	case value == "":
		why = errors.New("it is empty")
	case len(value) > 4096:
		why = errors.New("it has more than 4,096 characters")
	case strings.ContainsFunc(value, func(r rune) bool { return !plain(r) }):
		why = errors.New("it contains spaces or other characters that no key has")
	default:
		return nil
	}
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: "this is not a key", Cause: why,
		Hint: "Give the key alone, as the provider shows it, on standard input.",
	}
}

// CheckProvider returns an error if the name of a provider is invalid.
func CheckProvider(name string) error {
	bad := strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
	if name != "" && len(name) <= 64 && !bad {
		return nil
	}
	shown := cmp.Or(fmt.Sprintf("%q", sanitize.TruncateText(name, 64)), "nothing")
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: shown + " is not a valid name of a provider",
		Hint: "A name has letters, digits, - and _ only, such as anthropic.",
	}
}
