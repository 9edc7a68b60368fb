/** Judges a text that somebody has found, before it is sent: it may be a secret of somebody else. */
import { hasChecksum, KEY_PATTERN, KEY_PREFIX, keysIn } from '../../../../lib/engine/meta/value/credentialformat.ts'
import { isBearer } from '../forms.ts'

/** How the secrets of others begin, as their makers document it for scanners. */
const OTHERS: readonly [pattern: RegExp, maker: string][] = [
  [/^(gh[pousr]_|github_pat_)/, 'GitHub'],
  [/^(glpat|gldt|glrt|glcbt|glptt|glft|glimt|glagent|gloas|glsoat|glffct)-/, 'GitLab'],
  [/^(AKIA|ASIA|ABIA|ACCA)[0-9A-Z]/, 'AWS'],
  [/^(AIza|ya29\.|GOCSPX-)/, 'Google'],
  [/^(xox[a-z]-|xoxe\.|xapp-)/, 'Slack'],
  [/^((sk|rk|pk)_(live|test)_|whsec_)/, 'Stripe'],
  [/^sk-ant-/, 'Anthropic'],
  [/^sk-/, 'OpenAI'],
  [/^(npm_)/, 'npm'],
  [/^pypi-/, 'PyPI'],
  [/^rubygems_/, 'RubyGems'],
  [/^do[opr]_v1_/, 'DigitalOcean'],
  [/^hv[sbr]\./, 'HashiCorp Vault'],
  [/\.atlasv1\./, 'HCP Terraform'],
  [/^SG\./, 'SendGrid'],
  [/^shp(at|ss|ca|pa)_/, 'Shopify'],
  [/^dck(r_pat|r_oat)_/, 'Docker'],
  [/^hf_/, 'Hugging Face'],
  [/^lin_(api|oauth)_/, 'Linear'],
  [/^(NRAK|NRII|NRJS)-/, 'New Relic'],
  [/^PMAK-/, 'Postman'],
  [/^figd_/, 'Figma'],
  [/^pul-/, 'Pulumi'],
  [/^sntry[su]_/, 'Sentry'],
  [/^gl(sa|c)_/, 'Grafana'],
  [/^ATATT3/, 'Atlassian'],
  [/^dapi[0-9a-f]/, 'Databricks'],
  [/^CCI(PAT|PRJ)_/, 'CircleCI'],
  [/^bk(ua|at|ct)_/, 'Buildkite'],
  [/^ops_eyJ/, '1Password'],
  [/^AGE-SECRET-KEY-/, 'age'],
  [/^k8s-aws-v1\./, 'Amazon EKS'],
]

/** `own`: a key that keyplane made, here or elsewhere. `odd`: a client may have supplied it. `refused` says why it is not sent. */
export type FoundValue = { kind: 'own' } | { kind: 'odd' } | { kind: 'refused'; why: string }

/** The bounds of values that clients supply. */
const [SHORTEST, LONGEST] = [32, 512]

export function judgeFoundValue(text: string): FoundValue {
  const refused = (why: string): FoundValue => ({ kind: 'refused', why })
  if (KEY_PATTERN.test(text) && hasChecksum(text)) return { kind: 'own' }
  if (!keysIn(text).next().done) return refused('This is more than the value of a key.')
  if (text.startsWith(KEY_PREFIX)) return refused('This is not a whole key: its checksum does not match.')
  const maker = OTHERS.find(([pattern]) => pattern.test(text))?.[1]
  if (maker !== undefined) return refused(`This looks like a secret of ${maker}, not like a key.`)
  if (/^(ops_)?eyJ[\w-]*(\.[\w-]*)+$/.test(text)) return refused('This is a token, not a key.')
  const isPossible = isBearer(text) && text.length >= SHORTEST && text.length <= LONGEST
  return isPossible ? { kind: 'odd' } : refused('This cannot be the value of a key.')
}

/** What people are asked before an odd text is sent. */
export const ODD = 'This does not look like a key that keyplane made.'
export const ANYWAY = 'Send it anyway?'
