package access

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
)

// TokenEntry is a person with their token, stored as a hash.
type TokenEntry struct {
	TokenOwner

	Made   time.Time `json:"made"`
	Token  string    `json:"token_sha256"`
	Cookie string    `json:"cookie_sha256"` // of the browser cookie for the token
}

// EntryOf returns the entry of a person with a token.
func EntryOf(p TokenOwner, token string, made time.Time) TokenEntry {
	return TokenEntry{TokenOwner: p, Made: made.UTC(), Token: hashToken(token), Cookie: hashToken(CookieForToken(token))}
}

// CookieForToken returns the browser cookie for a token. It is not valid as a token.
func CookieForToken(token string) string {
	m := hmac.New(sha256.New, []byte(token))
	_, _ = m.Write([]byte("cookie")) // a hash accepts all writes
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

func hashToken(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// OwnerOfToken returns the owner of a token, in constant time, so that the duration does not reveal
// correct characters.
func OwnerOfToken(all []TokenEntry, token string) (TokenOwner, bool) {
	return findPerson(all, token, func(e TokenEntry) string { return e.Token })
}

// OwnerOfCookie returns the owner of a cookie.
func OwnerOfCookie(all []TokenEntry, cookie string) (TokenOwner, bool) {
	return findPerson(all, cookie, func(e TokenEntry) string { return e.Cookie })
}

func findPerson(all []TokenEntry, sent string, of func(TokenEntry) string) (found TokenOwner, ok bool) {
	sum := hashToken(sent)
	for _, e := range all {
		if hmac.Equal([]byte(sum), []byte(of(e))) {
			found, ok = e.TokenOwner, true
		}
	}
	return found, ok
}

// TokenStore is the file with the tokens of a repository's persons. It is read again for each call, so
// that a removed person loses access at once.
type TokenStore struct{ Path string }

// TokenStoreOf returns the book in a state directory.
func TokenStoreOf(state string) TokenStore {
	return TokenStore{filepath.Join(state, "web", "tokens.json")}
}

const (
	bookVersion = 1
	maxBook     = 1 << 20 // bytes
)

type tokenFile struct {
	Version int          `json:"version"`
	Persons []TokenEntry `json:"persons"`
}

// Entries returns all entries, in the order in which they were added.
func (b TokenStore) Entries() ([]TokenEntry, error) {
	info, err := os.Lstat(b.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, filewrite.WrapError("read the tokens", err)
	case !info.Mode().IsRegular() || info.Size() > maxBook:
		return nil, b.invalidFileError("it is not a file of tokens", nil)
	case info.Mode().Perm()&0o077 != 0:
		return nil, b.invalidFileError("others may read or write it", nil)
	}
	data, err := os.ReadFile(b.Path)
	if err != nil {
		return nil, filewrite.WrapError("read the tokens", err)
	}
	return parseTokenFile(b, data)
}

func parseTokenFile(b TokenStore, data []byte) ([]TokenEntry, error) {
	var all tokenFile
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, b.invalidFileError("it cannot be read", err)
	}
	if all.Version != bookVersion {
		return nil, b.invalidFileError(fmt.Sprintf("it has version %d, and this program knows %d", all.Version, bookVersion), nil)
	}
	for _, e := range all.Persons {
		if err := CheckPerson(e.TokenOwner); err != nil {
			return nil, b.invalidFileError("a person in it", err)
		}
		if len(e.Token) != sha256.Size*2 || len(e.Cookie) != sha256.Size*2 {
			return nil, b.invalidFileError(e.Name+" has no token in it", nil)
		}
	}
	return all.Persons, nil
}

func (b TokenStore) invalidFileError(what string, cause error) error {
	return &nexus.Error{
		Code: nexus.CodeInvalidConfig, Message: "the tokens in " + b.Path + " are not used: " + what, Cause: cause,
		Hint: "Make it private (chmod 600), or remove it and add the users again with nexus serve token add.",
	}
}

var personName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)

// CheckPerson returns an error if a person cannot be added.
func CheckPerson(p TokenOwner) error {
	switch {
	case !personName.MatchString(p.Name):
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "a name has 1 to 64 letters, digits, and . _ @ -",
			Hint: "Give a short name, such as ada: the journal records it with each answer.",
		}
	case p.Name == Owner:
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: Owner + " is the person who starts the server",
			Hint: "Give another name, or set that token with channels.web.secret_env.",
		}
	case !slices.Contains(Roles, p.Role):
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "there is no such role",
			Hint: "Use --role read, answer, steer or admin.",
		}
	}
	return nil
}

// AddPerson adds a person, and returns their token, which is stored nowhere else.
func (b TokenStore) AddPerson(p TokenOwner, now time.Time) (token string, err error) {
	if err := CheckPerson(p); err != nil {
		return "", err
	}
	token = rand.Text()
	return token, b.updateTokenFile(func(all []TokenEntry) ([]TokenEntry, error) {
		if slices.ContainsFunc(all, func(e TokenEntry) bool { return strings.EqualFold(e.Name, p.Name) }) {
			return nil, &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: p.Name + " has a token already",
				Hint: "Remove it first, with nexus serve token remove " + p.Name + ".",
			}
		}
		return append(all, EntryOf(p, token, now)), nil
	})
}

// Remove removes a person.
func (b TokenStore) Remove(name string) error {
	return b.updateTokenFile(func(all []TokenEntry) ([]TokenEntry, error) {
		left := slices.DeleteFunc(slices.Clone(all), func(e TokenEntry) bool { return e.Name == name })
		if len(left) == len(all) {
			return nil, &nexus.Error{
				Code: nexus.CodeNotFound, Message: "no person of that name has a token",
				Hint: "See nexus serve token list.",
			}
		}
		return left, nil
	})
}

// updateTokenFile changes the file, one process at a time.
func (b TokenStore) updateTokenFile(f func([]TokenEntry) ([]TokenEntry, error)) error {
	if err := os.MkdirAll(filepath.Dir(b.Path), 0o700); err != nil {
		return filewrite.WrapError("make a directory", err)
	}
	l := flock.New(b.Path + ".lock")
	if err := l.Lock(); err != nil {
		return filewrite.WrapError("take the lock of the tokens", err)
	}
	defer l.Close() //nolint:errcheck // only a lock
	all, err := b.Entries()
	if err != nil {
		return err
	}
	if all, err = f(all); err != nil {
		return err
	}
	data, err := json.MarshalIndent(tokenFile{bookVersion, all}, "", "  ")
	if err != nil {
		return err
	}
	return filewrite.ReplaceFile(b.Path, append(data, '\n'))
}
