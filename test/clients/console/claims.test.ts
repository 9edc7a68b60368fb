/** The words for the claims of a trust. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ClaimEntry, claimsInWords, quoted } from '../../../clients/console/src/text/claims.ts'

const is = (claim: string, ...values: string[]): ClaimEntry => ({ claim, values })

describe('claimsInWords', () => {
  test.each<[words: string, type: string | undefined, ...entries: ClaimEntry[]]>([
    [
      'Jobs of repository 74, environment production',
      'GitHub',
      is('repository_id', '74'),
      is('environment', 'production'),
    ],
    ['Jobs of repository 74 or 75', 'GitHub', is('repository_id', '74', '75')],
    ['Jobs of repository 1 or 2 or 3 or 2 more', 'GitHub', is('repository_id', '1', '2', '3', '4', '5')],
    ['Jobs of branch main', 'GitHub', is('ref', 'refs/heads/main')],
    ['Jobs of tag v1.2', 'CircleCI', is('oidc.circleci.com/vcs-ref', 'refs/tags/v1.2')],
    ['Jobs of ref refs/heads/main or refs/heads/next', 'GitHub', is('ref', 'refs/heads/main', 'refs/heads/next')],
    [
      'Jobs of project 20, environment production, ref type branch, protected branches and tags',
      'GitLab',
      is('project_id', '20'),
      is('environment', 'production'),
      is('ref_type', 'branch'),
      is('ref_protected', 'true'),
    ],
    ['Jobs of environment like prod-*', 'GitHub', { claim: 'environment', patterns: ['prod-*'] }],
    ['Jobs of environment a or like b-*', 'GitHub', { claim: 'environment', values: ['a'], patterns: ['b-*'] }],
    [
      'Pods of service account operator in namespace shop',
      'Kubernetes',
      is('sub', 'system:serviceaccount:shop:operator'),
    ],
    [
      'Runs of workspace ws-1, run phase apply',
      'TerraformCloud',
      is('terraform_workspace_id', 'ws-1'),
      is('terraform_run_phase', 'apply'),
    ],
    ['ID tokens with subject job:nightly', 'OIDC', is('sub', 'job:nightly')],
    ['ID tokens with claim groups engineering', undefined, is('groups', 'engineering')],
    ['ID tokens with claim constructor a', 'constructor', is('constructor', 'a')],
    ['Jobs of environment ""', 'GitHub', is('environment', '')],
    ['Jobs of environment "main, environment production"', 'GitHub', is('environment', 'main, environment production')],
    ['Jobs of environment "a\\" or \\"b"', 'GitHub', is('environment', 'a" or "b')],
    ['Jobs of branch "a\nb"', 'GitHub', is('ref', 'refs/heads/a\nb')],
    ['ID tokens with claim "a b" c', 'OIDC', is('a b', 'c')],
  ])('says %j', (words, type, ...entries) => expect(claimsInWords(entries, type)).toBe(words))
})

describe('quoted', () => {
  // threat: trusts-3
  test('puts no text outside of quotes that could end a value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const shown = quoted(text)
        expect(shown).toMatch(/^([^\s,"]+|"([^"\\]|\\.)*")$/su)
      }),
      { seed: 20261122 },
    )
  })

  test('cuts a long text', () => expect(quoted('a'.repeat(1024))).toBe(`${'a'.repeat(60)}…`))
})
