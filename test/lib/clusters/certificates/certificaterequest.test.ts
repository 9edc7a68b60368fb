import { execFileSync } from 'node:child_process'
import { createPublicKey, X509Certificate } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createCertificateRequest } from '../../../../lib/clusters/certificates/certificaterequest.ts'
import { checkIssuedCertificate } from '../../../../lib/clusters/certificates/issued.ts'
import { character } from '../../../support/characters.ts'
import { testAuthority } from '../authority.ts'

const openssl = (input: string, ...args: string[]) =>
  execFileSync('openssl', args, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] })

test('openssl verifies the request and reads one RDN for each group, then the user', async () => {
  const { request } = await createCertificateRequest('ünal "x"', ['team:a+b,c=d', '#0102', 'ops'])
  const read = openssl(request, 'req', '-verify', '-noout', '-subject', '-nameopt', 'RFC2253,-esc_msb,sep_multiline')
  // RFC 2253 starts with the last RDN.
  expect(read.trim().split(/\n\s*/)).toEqual([
    'subject=',
    'CN=ünal \\"x\\"',
    'O=ops',
    'O=\\#0102',
    'O=team:a\\+b\\,c=d',
  ])
  expect(openssl(request, 'asn1parse').match(/d=2 .*cons: SET|d=3 .*cons: SET/g)).toHaveLength(4)
})

test('each request has a new P-256 key that signs it', async () => {
  const first = await createCertificateRequest('ci', [])
  const second = await createCertificateRequest('ci', [])
  expect(first.key).not.toBe(second.key)
  const own = createPublicKey(first.key)
  expect(own.asymmetricKeyDetails?.namedCurve).toBe('prime256v1')
  expect(openssl(first.request, 'req', '-noout', '-pubkey')).toBe(own.export({ type: 'spki', format: 'pem' }))
})

test('certificates preserve arbitrary names', async () => {
  const authority = await testAuthority()
  const text = fc.string({ minLength: 1, maxLength: 80, unit: character }).filter((one) => one.isWellFormed())
  const odd = fc.constantFrom(
    '\t',
    ' a',
    'a ',
    '#0102',
    'a,b=c+d',
    '\\',
    '"',
    'a\0b',
    'O=x\nCN=y',
    'ä',
    '$',
    '__proto__',
  )
  const name = fc.oneof(text, odd)
  await fc.assert(
    fc.asyncProperty(name, fc.uniqueArray(name, { maxLength: 4 }), async (user, groups) => {
      const { key, request } = await createCertificateRequest(user, groups)
      const pem = await authority.sign(request)
      const issued = checkIssuedCertificate(pem, { key, user, groups, now: new Date() })
      expect(issued).toMatchObject({ notAfter: new X509Certificate(pem).validToDate })
    }),
    { numRuns: 30 },
  )
})
