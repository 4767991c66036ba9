package delivery

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/webhookpost"
)

// mailTime limits a conversation with a mail server.
const mailTime = 30 * time.Second

// MailSender sends messages by mail.
type MailSender struct {
	Server   string // host:port
	TLS      string // starttls, implicit or none; empty: starttls
	User     string // empty: no login
	Password string
	From     string
	To       []string
	Now      func() time.Time
	Roots    *tls.Config // of the connection; nil: the system's certificates
}

// Check returns an error if mail cannot be sent.
func (m MailSender) Check() error {
	host, _, err := net.SplitHostPort(m.Server)
	switch {
	case m.Server == "":
		return errors.New("there is no mail server (server)")
	case err != nil || host == "":
		return fmt.Errorf("server is not host:port: %s", m.Server)
	case m.TLS == "none" && !webhookpost.IsLoopback(host):
		return fmt.Errorf("mail to %s would be sent without encryption (tls), so others could read it", host)
	case m.User != "" && m.Password == "":
		return errors.New("there is no password for the user (password_env)")
	case len(m.To) == 0:
		return errors.New("there is no recipient (to)")
	}
	for _, a := range append([]string{m.From}, m.To...) {
		if _, err := mail.ParseAddress(a); err != nil {
			return fmt.Errorf("%q is not a mail address (from, to)", a)
		}
	}
	return nil
}

// Send sends a message. A message that the server refuses permanently is not tried again.
func (m MailSender) Send(ctx context.Context, msg Message) error {
	ctx, cancel := context.WithTimeoutCause(ctx, mailTime, errors.New("the mail server takes too long"))
	defer cancel()
	err := m.converse(ctx, msg)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	said, ok := errors.AsType[*textproto.Error](err)
	final, _ := errors.AsType[*webhookpost.Error](err)
	text := err.Error()
	if ok {
		plain := fmt.Sprintf("the server said %d %s", said.Code, strings.Join(strings.Fields(said.Msg), " "))
		text = strings.ReplaceAll(text, said.Error(), plain)
	}
	return &webhookpost.Error{Text: text, Final: ok && said.Code >= 500 || final != nil}
}

// converse conducts one conversation with the server.
func (m MailSender) converse(ctx context.Context, msg Message) error {
	host, _, _ := net.SplitHostPort(m.Server)
	secure := m.tlsConfig(host)
	var conn net.Conn
	var err error
	if m.TLS == "implicit" {
		conn, err = (&tls.Dialer{Config: secure}).DialContext(ctx, "tcp", m.Server)
	} else {
		conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", m.Server)
	}
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		_ = conn.Close() // nothing was sent
		return err
	}
	defer c.Close() //nolint:errcheck // what counts was said before
	if cmp.Or(m.TLS, "starttls") == "starttls" {
		if ok, _ := c.Extension("STARTTLS"); !ok {
			return &webhookpost.Error{Text: "the mail server does not offer encryption (STARTTLS)", Final: true}
		}
		if err := c.StartTLS(secure); err != nil {
			return err
		}
	}
	if m.User != "" {
		if err := c.Auth(smtp.PlainAuth("", m.User, m.Password, host)); err != nil {
			return fmt.Errorf("log in: %w", err)
		}
	}
	return m.transmitMail(c, msg)
}

func (m MailSender) tlsConfig(host string) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if m.Roots != nil {
		c = m.Roots.Clone()
	}
	c.ServerName = host
	return c
}

// transmitMail sends the mail.
func (m MailSender) transmitMail(c *smtp.Client, msg Message) error {
	from, err := mail.ParseAddress(m.From)
	if err != nil {
		return err
	}
	if err := c.Mail(from.Address); err != nil {
		return fmt.Errorf("from: %w", err)
	}
	for _, to := range m.To {
		a, err := mail.ParseAddress(to)
		if err != nil {
			return err
		}
		if err := c.Rcpt(a.Address); err != nil {
			return fmt.Errorf("to: %w", err)
		}
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	body, err := m.formatMail(msg)
	if err != nil {
		return err
	}
	if _, err := w.Write(body); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	_ = c.Quit() // the mail is accepted
	return nil
}

// formatMail formats the mail with its headers, to which a notice's text cannot add.
func (m MailSender) formatMail(msg Message) ([]byte, error) {
	var b bytes.Buffer
	from, err := mail.ParseAddress(m.From)
	if err != nil {
		return nil, err
	}
	var to []string
	for _, text := range m.To {
		a, err := mail.ParseAddress(text)
		if err != nil {
			return nil, err
		}
		to = append(to, a.String())
	}
	id := sha256.Sum256([]byte(msg.ID))
	_, domain, _ := strings.Cut(from.Address, "@")
	for _, h := range [][2]string{
		{"From", from.String()},
		{"To", strings.Join(to, ", ")},
		{"Subject", mime.QEncoding.Encode("utf-8", msg.Subject())},
		{"Date", m.Now().Format(time.RFC1123Z)},
		{"Message-ID", "<" + hex.EncodeToString(id[:12]) + "@" + domain + ">"},
		{"Auto-Submitted", "auto-generated"},
		{"MIME-Version", "1.0"},
		{"Content-Type", "text/plain; charset=utf-8"},
		{"Content-Transfer-Encoding", "quoted-printable"},
	} {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	b.WriteString("\r\n")
	q := quotedprintable.NewWriter(&b)
	if _, err := q.Write([]byte(strings.Join(msg.TextLines(), "\r\n") + "\r\n")); err != nil {
		return nil, err
	}
	if err := q.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
