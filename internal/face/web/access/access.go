// Package access identifies the callers of the web server and their permissions, and defines the
// type of a route, so that pages and the API use the same rules.
//
// It enforces nothing itself: the server puts a table of [ServerRoute] values behind its guards, and a
// handler gets its caller from [PersonFrom].
package access

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"slices"
)

// Role is the set of a person's permissions. Each role includes the one before it.
type Role string

// The roles, from the least. The zero Role may do nothing.
const (
	Read   Role = "read"   // view the runs
	Answer Role = "answer" // answer questions to people: approve, reject, answer, sign off
	Steer  Role = "steer"  // change how a run continues: guide, pause, skip, retry, review
	Admin  Role = "admin"  // start and stop runs, land, change settings
)

// Roles are all roles, the least first.
var Roles = []Role{Read, Answer, Steer, Admin} //nolint:gochecknoglobals // never written

// Includes reports whether a role includes the needed one.
func (r Role) Includes(needed Role) bool {
	has, needs := slices.Index(Roles, r), slices.Index(Roles, needed)
	return has >= 0 && needs >= 0 && has >= needs
}

// TokenOwner is the owner of a token.
type TokenOwner struct {
	Name string `json:"name"`
	Role Role   `json:"role"`
}

// Owner is the name of the person who started the server.
const Owner = "owner"

// Actor returns the name of the person as author in the journal.
func (p TokenOwner) Actor() string {
	if p.Name == Owner {
		return "web"
	}
	return "web:" + p.Name
}

// HasRole reports whether a person has the needed role.
func (p TokenOwner) HasRole(needed Role) bool { return p.Role.Includes(needed) }

// personContextKey is the context key of the caller.
type personContextKey struct{}

// callerIdentity is a person with the secret that only their pages contain.
type callerIdentity struct {
	person TokenOwner
	csrf   string
}

// WithPerson returns the context of a call by a person. Secret belongs to their session.
func WithPerson(ctx context.Context, p TokenOwner, secret string) context.Context {
	return context.WithValue(ctx, personContextKey{}, callerIdentity{p, csrfToken(p, secret)})
}

// PersonFrom returns the caller. Only a route of [Everybody] can have an unknown caller: the zero
// Person, who has no permissions.
func PersonFrom(ctx context.Context) TokenOwner {
	c, _ := ctx.Value(personContextKey{}).(callerIdentity)
	return c.person
}

// CSRFToken returns the token that each change must send, a form in the field csrf, a script in the
// header X-Nexus-Csrf. Pages of other sites cannot know it.
func CSRFToken(ctx context.Context) string {
	c, _ := ctx.Value(personContextKey{}).(callerIdentity)
	return c.csrf
}

// The names under which a change sends the result of [CSRFToken].
const (
	CSRFField  = "csrf"
	CSRFHeader = "X-Nexus-Csrf"
)

func csrfToken(p TokenOwner, secret string) string {
	m := hmac.New(sha256.New, []byte(secret))
	_, _ = m.Write([]byte("csrf\n" + p.Name)) // a hash accepts all writes
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// Everybody is the role of a route that needs no token.
const Everybody Role = "everybody"

// ServerRoute is an address of the server. The server refuses to start with a route that has no role,
// or that changes something by GET.
type ServerRoute struct {
	Method  string // GET, POST, PUT or DELETE
	Pattern string // in the form of [http.ServeMux], without the method, such as /api/v1/runs/{run}
	Role    Role   // minimum role
	Changes bool   // it changes something: a form needs [CSRFToken], a browser its own origin
	Stream  bool   // the response lasts as long as the client stays, and ends with the server
	File    bool   // the response is an embedded file, which has no rate limit
	Body    int64  // limit of the body, in bytes; 0: [DefaultBody]
	Handler http.Handler
}

// DefaultBody is the default limit of a body, in bytes.
const DefaultBody = 64 << 10
