package config

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
)

// certificates works out which certificates count with a remote server, and
// whether they can be used.
func (w *wiring) certificates() {
	files := &w.app.MCP.TLS
	var texts [3][]byte
	ok := true
	for i, one := range []struct {
		key  string
		text func(*connection) string
		path *string
	}{
		{"tls.ca", func(c *connection) string { return c.TLS.CA }, &files.CA},
		{"tls.cert", func(c *connection) string { return c.TLS.Cert }, &files.Cert},
		{"tls.key", func(c *connection) string { return c.TLS.Key }, &files.Key},
	} {
		l := first(w.layers, one.key)
		if l == nil {
			continue
		}
		at := l.path(one.key)
		written := one.text(l.conn)
		value, faults := w.expand.word(written)
		if w.faults(l.src, at, faults) || value == "" {
			ok = false
			continue
		}
		*one.path = w.expand.path(written, value)
		var err error
		texts[i], err = w.text(*one.path)
		files.Digest += digest(texts[i], err)
		if err != nil {
			w.problem(l.src, at, "the file "+brief(value)+" cannot be read: "+reason(err), "the path is relative to the home folder")
			ok = false
		}
	}
	if !ok {
		return
	}
	ca, cert, key := first(w.layers, "tls.ca"), first(w.layers, "tls.cert"), first(w.layers, "tls.key")
	if ca != nil && !x509.NewCertPool().AppendCertsFromPEM(texts[0]) {
		w.problem(ca.src, ca.path("tls.ca"), "the file holds no certificate", notPEM(texts[0]))
	}
	switch {
	case cert == nil && key == nil:
	case cert == nil:
		w.problem(key.src, key.path("tls.key"), "is the key of no certificate", "name the certificate with tls.cert")
	case key == nil:
		if p := texts[1]; bytes.Contains(p, []byte("PRIVATE KEY-----")) {
			files.Key = files.Cert // one file holds both
			w.pair(cert, p, p)
			return
		}
		w.problem(cert.src, cert.path("tls.cert"), "lacks its key", "name the key with tls.key")
	default:
		w.pair(cert, texts[1], texts[2])
	}
}

// pair checks that a certificate and a key belong together.
func (w *wiring) pair(l *layer, cert, key []byte) {
	if _, err := tls.X509KeyPair(cert, key); err != nil {
		hint := "" // the text of the error tells no secret
		if bytes.Contains(key, []byte("ENCRYPTED")) {
			hint = "a key with a password cannot be used"
		}
		w.problem(l.src, l.path("tls.cert"), "certificate and key cannot be used: "+err.Error(), hint)
	}
}

// notPEM says what may be wrong with a file that holds no certificate.
func notPEM(text []byte) string {
	if block, _ := pem.Decode(text); block != nil {
		return "what it holds is: " + block.Type
	}
	return "it must be PEM, which begins with -----BEGIN CERTIFICATE-----"
}
