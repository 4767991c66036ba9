// Package access says who calls the web server and what they may do there, and
// holds the shape of a route, so that pages and the API are let in by the same
// rules.
//
// Nothing here guards anything by itself: the server mounts a table of [Route]
// values behind its guards, and a handler learns from [From] who called.
package access

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"slices"
)

// Role is what a person may do. Each role may do what the one before it may.
type Role string

// The roles, from the least. The zero Role may do nothing.
const (
	Read   Role = "read"   // look at the runs
	Answer Role = "answer" // answer what waits for a person: approve, reject, answer, sign off
	Steer  Role = "steer"  // change how a run continues: tell, pause, skip, retry, review
	Admin  Role = "admin"  // start and stop runs, land, change settings
)

// Roles are all roles, the least first.
var Roles = []Role{Read, Answer, Steer, Admin} //nolint:gochecknoglobals // never written

// May reports whether a role may do what another one is needed for.
func (r Role) May(needed Role) bool {
	has, needs := slices.Index(Roles, r), slices.Index(Roles, needed)
	return has >= 0 && needs >= 0 && has >= needs
}

// Person is somebody who has a token.
type Person struct {
	Name string `json:"name"`
	Role Role   `json:"role"`
}

// Owner is the name of the person who started the server.
const Owner = "owner"

// Actor is the name under which the journal has what a person does.
func (p Person) Actor() string {
	if p.Name == Owner {
		return "web"
	}
	return "web:" + p.Name
}

// May reports whether a person may do what a role is needed for.
func (p Person) May(needed Role) bool { return p.Role.May(needed) }

// key is where a context holds the caller.
type key struct{}

// caller is who calls, and what only pages shown to them contain.
type caller struct {
	person Person
	csrf   string
}

// With returns a context of a call by a person. Secret is of their session.
func With(ctx context.Context, p Person, secret string) context.Context {
	return context.WithValue(ctx, key{}, caller{p, sign(p, secret)})
}

// From returns who calls. Only a route of [Everybody] is reached by nobody that
// is known: the zero Person, who may do nothing.
func From(ctx context.Context) Person {
	c, _ := ctx.Value(key{}).(caller)
	return c.person
}

// CSRF returns what a form must send in the field csrf, or a script in the
// header X-Nexus-Csrf, with each change. No page of another site can know it.
func CSRF(ctx context.Context) string {
	c, _ := ctx.Value(key{}).(caller)
	return c.csrf
}

// The names under which a change carries what [CSRF] returns.
const (
	CSRFField  = "csrf"
	CSRFHeader = "X-Nexus-Csrf"
)

func sign(p Person, secret string) string {
	m := hmac.New(sha256.New, []byte(secret))
	_, _ = m.Write([]byte("csrf\n" + p.Name)) // a hash takes everything
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// Everybody stands in a route for those who have no token, too.
const Everybody Role = "everybody"

// Route is something that the server answers. The server refuses to start with
// one that has no role, or that changes something and is reached by GET.
type Route struct {
	Method  string // GET, POST, PUT or DELETE
	Pattern string // as [http.ServeMux] has it, without the method, such as /api/v1/runs/{run}
	Role    Role   // the least role that is let in
	Changes bool   // it changes something: a form needs [CSRF], a browser its own origin
	Stream  bool   // it answers for as long as the client stays, and ends with the server
	File    bool   // it answers with a file that the program has in memory, which no pace bounds
	Body    int64  // the largest body, in bytes; 0: [DefaultBody]
	Handler http.Handler
}

// DefaultBody is the largest body of a route that names none, in bytes.
const DefaultBody = 64 << 10
