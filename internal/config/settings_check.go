package config

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aurorabot/aurora/internal/names"
)

// completeSettings expands the texts of aurora.yml, fills in what the system
// says, and checks what the types alone cannot.
func (r *reader) completeSettings(s *Settings, src *source) {
	r.expandTexts(reflect.ValueOf(s).Elem(), "", src)
	r.completeUser(&s.User, src)
	for _, key := range []string{s.LLM.APIKey, roleKey(s.LLM.Roles.Fast), roleKey(s.LLM.Roles.Quality), roleKey(s.LLM.Roles.Vision)} {
		r.config.Redact.Add(key)
	}
	checkModel(&s.LLM.Model, "llm", src)
	for name, role := range map[string]*Model{"fast": s.LLM.Roles.Fast, "quality": s.LLM.Roles.Quality, "vision": s.LLM.Roles.Vision} {
		if role != nil {
			checkModel(role, "llm.roles."+name, src)
		}
	}
	if s.Brain.MaxWait < s.Brain.Debounce {
		src.problem("brain.max_wait_seconds", fmt.Sprintf("is less than debounce_seconds, %v", s.Brain.Debounce), "")
	}
	if s.Brain.QuietHours != "" && !isSpan(s.Brain.QuietHours) {
		said := "is no time from one hour to another"
		if spanForm.MatchString(s.Brain.QuietHours) {
			said = "begins when it ends"
		}
		src.problem("brain.quiet_hours", fmt.Sprintf("%q %s", brief(s.Brain.QuietHours), said), "write HH:MM-HH:MM, such as 23:00-07:30")
	}
	if s.Brain.Heartbeat > 0 && s.Brain.Heartbeat < time.Second {
		src.problem("brain.heartbeat_seconds", fmt.Sprintf("must be 0 or at least 1, not %v", s.Brain.Heartbeat.Seconds()), "")
	}
	checkPolicy(&s.Policy, src)
	if s.AMP.Spools == nil {
		s.AMP.Spools = map[string]Spool{}
	}
	if _, set := s.AMP.Spools["inbox"]; !set {
		inbox := reflect.New(reflect.TypeFor[Spool]()).Elem()
		applyDefaults(inbox)
		s.AMP.Spools["inbox"] = inbox.Interface().(Spool)
	}
	for _, name := range sortedKeys(s.AMP.Spools) {
		checkSpool(name, s.AMP.Spools[name], src)
	}
	checkListener(s.Gateway.Listen, "gateway.listen", src)
	checkListener(s.Console.Listen, "console.listen", src)
	if s.Gateway.Listen != "" && s.Gateway.Listen == s.Console.Listen {
		src.problem("console.listen", "is the address of the gateway too", "give it another port")
	}
}

// expandTexts expands every text that has the tag expand.
func (r *reader) expandTexts(v reflect.Value, path string, src *source) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return
	}
	for _, f := range r.structs.fieldsOf(v.Type()) {
		value, at := v.FieldByIndex(f.index), join(path, f.key)
		if value.Kind() != reflect.String || f.tag.Get("expand") == "" {
			r.expandTexts(value, at, src)
			continue
		}
		text, faults := r.expand.expand(value.String())
		for _, fault := range faults {
			src.problem(at, fault.message, fault.hint)
		}
		value.SetString(strings.TrimSpace(text))
	}
}

func roleKey(m *Model) string {
	if m == nil {
		return ""
	}
	return m.APIKey
}

func (r *reader) completeUser(u *User, src *source) {
	if u.Language == "" {
		u.Language = "en"
		for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
			if value, _ := r.env.lookup(name); value != "" {
				if strings.HasPrefix(strings.ToLower(value), "zh") {
					u.Language = "zh"
				}
				break
			}
		}
	}
	if u.TimeZone == "" {
		zone, _ := r.env.lookup("TZ")
		u.TimeZone = systemZone(zone)
		return
	}
	if _, err := time.LoadLocation(u.TimeZone); err != nil || u.TimeZone == "Local" {
		hint := "write an IANA name such as Asia/Shanghai or Europe/Berlin"
		switch strings.ToLower(strings.ReplaceAll(u.TimeZone, " ", "")) {
		case "asia/beijing", "beijing", "china", "cst", "gmt+8", "utc+8", "+08:00", "北京", "上海", "shanghai":
			hint = "write Asia/Shanghai"
		}
		src.problem("user.time_zone", fmt.Sprintf("unknown time zone %q", brief(u.TimeZone)), hint)
		u.TimeZone = systemZone("")
	}
}

// systemZone returns the IANA name of the zone of this machine. tz is the value
// of $TZ, which counts if it is such a name.
func systemZone(tz string) string {
	candidates := []string{strings.TrimPrefix(tz, ":")}
	if target, err := filepath.EvalSymlinks("/etc/localtime"); err == nil {
		if _, name, ok := strings.Cut(target, "zoneinfo/"); ok {
			candidates = append(candidates, name)
		}
	}
	if text, err := os.ReadFile("/etc/timezone"); err == nil {
		candidates = append(candidates, strings.TrimSpace(string(text)))
	}
	for _, name := range candidates {
		if name == "" || name == "Local" || filepath.IsAbs(name) {
			continue
		}
		if _, err := time.LoadLocation(name); err == nil {
			return name
		}
	}
	if runtime.GOOS != "windows" {
		return "UTC"
	}
	// Windows has names of its own. A zone of fixed offset is right at least now.
	_, offset := time.Now().Zone()
	if offset == 0 || offset%3600 != 0 {
		return "UTC"
	}
	return fmt.Sprintf("Etc/GMT%+d", -offset/3600) // the sign is the other way round there
}

func checkModel(m *Model, path string, src *source) {
	if m.BaseURL != "" && !strings.HasPrefix(m.BaseURL, "https://") && !strings.HasPrefix(m.BaseURL, "http://") {
		src.problem(path+".base_url", "is not an address", "it looks like https://host/v1")
	}
}

var spanForm = regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9]$`)

// isSpan tells whether text is a time of day such as 23:00-07:30.
func isSpan(text string) bool {
	return spanForm.MatchString(text) && text[:5] != text[6:]
}

var limitForm = regexp.MustCompile(`^[1-9][0-9]{0,6}/[smhd]$`)

func checkPolicy(p *Policy, src *source) {
	for i, approver := range p.Approval.Approvers {
		if approver != "console" && approver != "cli" && !isPerson(approver) {
			at := fmt.Sprintf("policy.approval.approvers[%d]", i)
			src.problem(at, fmt.Sprintf("%q cannot approve", brief(approver)), choices(approver, []string{"console", "cli", "package:user_id"}))
		}
	}
	for i := range p.Rules {
		rule, at := &p.Rules[i], fmt.Sprintf("policy.rules[%d]", i)
		if problem := patternProblem(rule.Tool); problem != "" {
			src.problem(at+".tool", problem, "write the canonical name of a tool, prefix.* or *")
		}
		if src.has(at) && rule.Decide == "" && !src.has(at+".decide") {
			src.problem(at+".decide", "is missing", "one of allow, ask, deny")
		}
		if rule.Sender != "" && !isPerson(rule.Sender) {
			src.problem(at+".sender", fmt.Sprintf("%q is not a person", brief(rule.Sender)), "write package:user_id")
		}
		if rule.Limit != "" && !limitForm.MatchString(rule.Limit) {
			src.problem(at+".limit", fmt.Sprintf("%q is not a limit", brief(rule.Limit)), "write 20/m, or another number per s, m, h or d")
		}
	}
}

// isPerson tells whether text is a person, package:user_id.
func isPerson(text string) bool {
	pkg, id, ok := strings.Cut(text, ":")
	return ok && names.ValidPackage(pkg) && id != "" && !strings.ContainsFunc(id, func(c rune) bool { return c <= ' ' })
}

func checkSpool(name string, s Spool, src *source) {
	at := "amp.spools." + name
	if problem := keyProblem(name); problem != "" {
		src.problemAtKey(at, strings.Replace(problem, "the key of the app", "the name", 1), "the name is that of a folder")
	}
	for i, pattern := range slices.Concat(s.Include, s.Exclude) {
		field := fmt.Sprintf("%s.include[%d]", at, i)
		if i >= len(s.Include) {
			field = fmt.Sprintf("%s.exclude[%d]", at, i-len(s.Include))
		}
		if problem := patternProblem(pattern); problem != "" {
			src.problem(field, problem, "write an exact type, prefix.* or *")
		}
	}
}

func checkListener(address, path string, src *source) {
	if address == "" {
		return
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		src.problem(path, fmt.Sprintf("%q is not host:port", brief(address)), "write 127.0.0.1:7710")
		return
	}
	if number, err := strconv.Atoi(port); err != nil || number < 0 || number > 65535 {
		src.problem(path, fmt.Sprintf("%q is not a port", brief(port)), "a number from 1 to 65535, or 0 for any that is free")
	}
	if !isLoopback(host) {
		src.problem(path, "the host must be this machine only", "write 127.0.0.1, [::1] or localhost before the port")
	}
}
