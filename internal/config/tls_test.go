package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Certificates are found relative to the home, in "~/" and by variables.
func TestCertificatesOfARemoteServer(t *testing.T) {
	cert, key := selfSigned(t)
	home := t.TempDir()
	mustMkdir(t, filepath.Join(home, "apps"))
	mustMkdir(t, filepath.Join(home, "证书"))
	for name, text := range map[string][]byte{
		"证书/ca.pem": cert, "cert.pem": cert, "key.pem": key, "both.pem": append(append([]byte{}, cert...), key...),
		"apps/config.yml": []byte(`apps:
  a: {url: "https://host/mcp", tls: {ca: 证书/ca.pem, cert: cert.pem, key: "${DIR}/key.pem"}}
  b: {url: "https://host/mcp", mcp: {tls: {cert: ~/both.pem}}}
`),
	} {
		if err := os.WriteFile(filepath.Join(home, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load(Options{Home: home, Env: []string{"PATH=/bin", "HOME=" + home, "DIR=" + home}})
	if err != nil || len(c.Problems) > 0 {
		t.Fatal(err, c.Problems)
	}
	in := func(name string) string { return filepath.Join(home, name) }
	got := c.Apps[0].MCP.TLS
	if want := (TLS{in("证书/ca.pem"), in("cert.pem"), in("key.pem"), got.Digest}); got != want || got.Digest == "" {
		t.Errorf("got %v, want %v", got, want)
	}
	got = c.Apps[1].MCP.TLS
	if want := (TLS{"", in("both.pem"), in("both.pem"), got.Digest}); got != want || got.Digest == c.Apps[0].MCP.TLS.Digest {
		t.Errorf("got %v, want %v", got, want)
	}
}

// selfSigned makes a certificate and its key, in PEM.
func selfSigned(t *testing.T) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}
