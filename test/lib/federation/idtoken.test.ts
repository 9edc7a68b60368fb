import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkTimes, MalformedIdToken, parseIdToken, replayId } from '../../../lib/federation/idtoken.ts'
import { character } from '../../support/characters.ts'
import { runs } from '../../support/effort.ts'
import { readIdTokenShapes } from '../../support/idtokens.ts'
import { claims, encode, NOW, now, unsigned } from './signing.ts'

const header = { alg: 'RS256', kid: 'k', typ: 'JWT' }
const good = unsigned(header, claims)
const withClaims = (changes: Record<string, unknown>) => unsigned(header, { ...claims, ...changes })
const withHeader = (changes: Record<string, unknown>) => unsigned({ ...header, ...changes }, claims)
/** Returns a token whose payload has this text before the claims. */
const withText = (text: string) => unsigned(header, `{${text},${JSON.stringify(claims).slice(1)}`)
/** A token of the longest text that is read. */
const longest = unsigned(header, claims, 'A'.repeat(16 * 1024 - unsigned(header, claims, '').length))
const nested = (depth: number) => `"deep":${'['.repeat(depth)}${']'.repeat(depth)}`

const shapes = await readIdTokenShapes()

/** Returns the error of a text that is no acceptable token. */
function refusal(text: string): string {
  try {
    parseIdToken(text)
  } catch (error) {
    expect(error).toBeInstanceOf(MalformedIdToken)
    return (error as Error).message
  }
  return 'accepted'
}

describe('parseIdToken', () => {
  test('returns the claims, what is signed and the signature', () =>
    expect(parseIdToken(unsigned(header, { ...claims, nbf: NOW - 20 }))).toEqual({
      alg: 'RS256',
      kid: 'k',
      issuer: claims.iss,
      subject: claims.sub,
      audience: claims.aud,
      issuedAt: NOW - 10,
      expires: NOW + 300,
      notBefore: NOW - 20,
      claims: { ...claims, nbf: NOW - 20 },
      signingInput: `${encode(header)}.${encode({ ...claims, nbf: NOW - 20 })}`,
      signature: Buffer.from('signature'),
      text: unsigned(header, { ...claims, nbf: NOW - 20 }),
    }))

  test.each(shapes)('reads $name', ({ header, claims: { aud, ...others } }) => {
    const audience = Array.isArray(aud) ? aud[0] : aud
    expect(parseIdToken(unsigned(header, { ...others, aud: audience })).claims).toEqual({ ...others, aud: audience })
  })

  test.each([
    ['without kid and typ', unsigned({ alg: 'ES256' }, claims)],
    ['with the thumbprint of a certificate', withHeader({ x5t: 'a', 'x5t#S256': 'b' })],
    ['with its audience in a list', withClaims({ aud: ['https://keys.example.com'] })],
    ['that says that it is an ID token', withClaims({ typ: 'ID', token_use: 'id' })],
    ['with 16 levels', withText(nested(15))],
    ['of 16 KiB', longest],
    ['that lives 24 hours and 5 minutes, as of a managed identity of Azure', withClaims({ exp: NOW - 10 + 86_700 })],
    ...['JOSE', 'jose', 'jwt', 'Jwt', 'application/jwt'].map((typ) => [`of the type ${typ}`, withHeader({ typ })]),
    ['with fractions of seconds', withClaims({ iat: NOW - 10.5, nbf: NOW - 10.25, exp: NOW + 300.75 })],
  ])('reads a token %s', (_, text) =>
    expect(parseIdToken(text)).toMatchObject({ issuer: claims.iss, subject: claims.sub, audience: claims.aud }),
  )

  test('takes the whole seconds of times', () => {
    const times = { issuedAt: NOW - 11, notBefore: NOW - 11, expires: NOW + 300 }
    expect(parseIdToken(withClaims({ iat: NOW - 10.5, nbf: NOW - 10.25, exp: NOW + 300.75 }))).toMatchObject(times)
    expect(parseIdToken(withText('"nbf":1.699999989e9')).notBefore).toBe(NOW - 11)
  })

  const noJwt = 'the subject token is not a JWT'
  // threat: exchange-13
  test.each([
    ['nothing', '', noJwt],
    ['one part', 'e30', noJwt],
    ['two parts', good.split('.').slice(0, 2).join('.'), noJwt],
    ['four parts', `${good}.e30`, noJwt],
    ['six parts', `${good}.e30.e30.e30`, noJwt],
    ['five parts: an encrypted token', `${good}.e30.e30`, 'the subject token is encrypted'],
    ['a key of ours', `mpk_${'a'.repeat(40)}`, noJwt],
    ['an ExecCredential', '{"kind":"ExecCredential","status":{"token":"a.b.c"}}', noJwt],
    ['no signature', good.replace(/[^.]+$/, ''), 'the subject token has no signature'],
    ['a line break after it', `${good}\n`, noJwt],
    ['a space before it', ` ${good}`, noJwt],
    ['a line break inside', good.replace('.', '.\n'), noJwt],
    ['Bearer before it', `Bearer ${good}`, noJwt],
    ['padding', good.replace('.', '=.'), noJwt],
    ['base64 instead of base64url', unsigned(header, claims, '+/+/'), noJwt],
    ['spare bits that are not zero', unsigned(header, claims, 'Zh'), noJwt],
    ['other characters', `${good}é`, noJwt],
    ['more than 16 KiB', `${longest}A`, 'the subject token is longer than 16 KiB'],
  ])('refuses %s', (_, text, message) => expect(refusal(text)).toBe(message))

  const critical = 'the header of the subject token has critical parameters (crit), which are not supported'
  const badAlgorithm = 'alg in the header of the subject token is not supported'
  const notJwt = 'the subject token is not an ID token: typ in its header is not JWT'
  // threat: exchange-10
  test.each<[string, Record<string, unknown>, string]>([
    ['a critical parameter', { crit: ['exp'], exp: 1 }, critical],
    ['a critical parameter that changes the payload', { crit: ['b64'], b64: false }, critical],
    ['an empty list of critical parameters', { crit: [] }, critical],
    ['null instead of critical parameters', { crit: null }, critical],
    ['alg none', { alg: 'none' }, badAlgorithm],
    ['alg HS256', { alg: 'HS256' }, badAlgorithm],
    ['alg in lower case', { alg: 'rs256' }, badAlgorithm],
    ['alg ES256K', { alg: 'ES256K' }, badAlgorithm],
    ['alg of the prototype', { alg: 'toString' }, badAlgorithm],
    ['alg that is no text', { alg: ['RS256'] }, badAlgorithm],
    ['no alg', { alg: undefined }, badAlgorithm],
    ['typ at+jwt', { typ: 'at+jwt' }, notJwt],
    ['typ logout+jwt', { typ: 'logout+jwt' }, notJwt],
    ['typ JWE', { typ: 'JWE' }, notJwt],
    ['typ JOSE+JSON', { typ: 'JOSE+JSON' }, notJwt],
    ['typ in a list', { typ: ['JWT'] }, notJwt],
    ['an empty typ', { typ: '' }, notJwt],
    ['typ of logout tokens with a prefix', { typ: 'application/logout+jwt' }, notJwt],
    ['typ null', { typ: null }, notJwt],
    ['kid that is no text', { kid: 7 }, 'kid in the header of the subject token is not a string'],
  ])('refuses a header with %s', (_, changes, message) => expect(refusal(withHeader(changes))).toBe(message))

  test.each<[string, Record<string, unknown>]>([
    ['the address of a key', { jku: 'https://evil.example.com/keys' }],
    ['a key', { jwk: { kty: 'RSA' } }],
    ['the address of a certificate', { x5u: 'https://evil.example.com/keys' }],
    ['a certificate', { x5c: ['MII'] }],
    ['a content type', { cty: 'JWT' }],
    ['a nonce', { nonce: 'n' }],
    ['a version', { ver: '1.0' }],
    ['a private parameter', { 'https://example.com/tenant': { id: 7 } }],
    ['a parameter with the name of a member of every object', { constructor: 'x' }],
  ])('ignores %s in a header', (_, changes) => {
    const { alg, kid } = parseIdToken(withHeader(changes))
    expect([alg, kid]).toEqual(['RS256', 'k'])
  })

  const noTime = (name: string) => `${name} of the subject token is not a time in seconds`
  const notText = (name: string) => `${name} of the subject token is not a string`
  const otherToken = 'the subject token is not an ID token: its claims are those of another token'
  // threat: exchange-10
  test.each<[string, Record<string, unknown>, string]>([
    ['without iss', { iss: undefined }, 'the subject token has no claim iss'],
    ['with an empty sub', { sub: '' }, notText('sub')],
    ['with a sub that is a number', { sub: 5 }, notText('sub')],
    ['without aud', { aud: undefined }, 'the subject token has no claim aud'],
    [
      'for no audience',
      { aud: [] },
      'aud of the subject token is not one audience: ask for a token for this API alone',
    ],
    [
      'for two audiences',
      { aud: [claims.aud, 'https://sts.example.com'] },
      'aud of the subject token is not one audience: ask for a token for this API alone',
    ],
    [
      'for one audience twice',
      { aud: [claims.aud, claims.aud] },
      'aud of the subject token is not one audience: ask for a token for this API alone',
    ],
    ['for a list in a list', { aud: [[claims.aud]] }, notText('aud')],
    ['without exp', { exp: undefined }, 'the subject token has no claim exp'],
    ['without iat', { iat: undefined }, 'the subject token has no claim iat'],
    ['with exp as text', { exp: String(NOW) }, noTime('exp')],
    ['that ends in the second in which it begins', { exp: NOW - 9.5 }, 'exp of the subject token is not after iat'],
    ['with a negative iat', { iat: -1 }, noTime('iat')],
    ['with nbf as text', { nbf: 'now' }, noTime('nbf')],
    ['with nbf null', { nbf: null }, noTime('nbf')],
    ['with exp beyond all dates', { exp: 2 ** 52 }, noTime('exp')],
    ['that ends before it begins', { exp: NOW - 10 }, 'exp of the subject token is not after iat'],
    [
      'that lives a second longer than any',
      { exp: NOW - 10 + 86_701 },
      'the subject token is valid for more than 24 hours: ask the issuer for a shorter one (GitLab: a shorter timeout of the job)',
    ],
    ['of an access token: typ', { typ: 'Bearer' }, otherToken],
    ['of an access token: token_use', { token_use: 'access' }, otherToken],
    ['of an access token: scp', { scp: 'read' }, otherToken],
    ['of a logout token', { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }, otherToken],
  ])('refuses a payload %s', (_, changes, message) => expect(refusal(withClaims(changes))).toBe(message))

  const badPayload = 'the payload of the subject token is not valid JSON'
  test.each<[string, string, string]>([
    [
      'a member twice',
      withText('"iss":"https://evil.example.com"'),
      'the payload of the subject token has a member twice',
    ],
    [
      'a member twice, once escaped',
      withText('"\\u0069ss":"https://evil.example.com"'),
      'the payload of the subject token has a member twice',
    ],
    ['a nested member twice', withText('"a":{"b":1,"b":2}'), 'the payload of the subject token has a member twice'],
    ['a prototype', withText('"__proto__":{"repository_id":"1"}'), badPayload],
    ['17 levels', withText(nested(16)), 'the subject token has more than 16 levels of nesting'],
    ['thousands of levels', withText(nested(2000)), badPayload],
    [
      '257 members',
      withText(Array.from({ length: 252 }, (_, i) => `"m${i}":1`).join()),
      'the payload of the subject token has more than 256 members',
    ],
    [
      'thousands of elements',
      withText(`"l":[${'1,'.repeat(2000)}1]`),
      'the payload of the subject token has more than 1000 values',
    ],
    ['an exp of 1e308', unsigned(header, JSON.stringify(claims).replace(/"exp":\d+/, '"exp":1e308')), noTime('exp')],
    ['an exp of 1e400', unsigned(header, JSON.stringify(claims).replace(/"exp":\d+/, '"exp":1e400')), badPayload],
    ['a list as payload', unsigned(header, [claims]), 'the payload of the subject token is not a JSON object'],
    ['a text as payload', unsigned(header, '"x"'), 'the payload of the subject token is not a JSON object'],
    ['a list as header', unsigned([header], claims), 'the header of the subject token is not a JSON object'],
    [
      'alg twice',
      unsigned('{"alg":"none","alg":"RS256"}', claims),
      'the header of the subject token has a member twice',
    ],
    ['a header that is not JSON', unsigned('alg', claims), 'the header of the subject token is not valid JSON'],
    ['something after the payload', unsigned(header, `${JSON.stringify(claims)}x`), badPayload],
    ['a byte order mark', unsigned(header, `\u{feff}${JSON.stringify(claims)}`), badPayload],
    [
      'invalid UTF-8',
      `${encode(header)}.${Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]).toString('base64url')}.c2ln`,
      badPayload,
    ],
  ])('refuses %s', (_, text, message) => expect(refusal(text)).toBe(message))

  // threat: exchange-10
  test('keeps integers beyond 2^53 exact', () =>
    expect(parseIdToken(withText('"id":9007199254740993')).claims.id).toBe(9007199254740993n))

  test('leaves out claims with numbers in floating point notation, which nothing can be compared with', () => {
    const { claims: read } = parseIdToken(withText('"a":1.0,"b":[1e3],"c":{"d":2.0},"e":9007199254740993.0,"f":7'))
    expect(read).toEqual({ ...claims, f: 7 })
  })

  test('reads or refuses whatever it gets: it throws nothing else, and no reason that RFC 6749 forbids', () => {
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom(...Object.values(claims)))
    const member = fc.constantFrom('iss', 'sub', 'aud', 'iat', 'exp', 'nbf', 'typ', 'alg', 'kid', 'jku')
    const object = (base: object) =>
      fc.dictionary(member, value, { maxKeys: 2 }).map((changes) => ({ ...base, ...changes }))
    const text = fc.oneof(
      fc.string({ unit: character, maxLength: 60 }),
      fc.array(fc.base64String(), { maxLength: 5 }).map((parts) => parts.join('.')),
      fc.tuple(object(header), object(claims)).map(([first, second]) => unsigned(first, second)),
      fc.tuple(fc.json(), fc.json()).map(([first, second]) => unsigned(first, second)),
    )
    const property = fc.property(text, (text) => {
      expect(refusal(text)).toMatch(/^[ !#-[\]-~]+$/)
    })
    fc.assert(property, runs(600))
  })

  test('says why in printable ASCII without double quotes, and quotes nothing of the token', () => {
    const marker = 'CANARY'
    const texts = [
      marker,
      `${marker}.${marker}.${marker}`,
      withHeader({ crit: [marker], [marker]: marker }),
      withHeader({ typ: marker }),
      withHeader({ alg: marker }),
      withClaims({ iss: [marker] }),
      withClaims({ exp: marker }),
      unsigned(marker, claims),
      unsigned(header, `{"${marker}"`),
      withText(`"${marker}":1,"${marker}":2`),
    ]
    for (const message of texts.map(refusal)) {
      expect(message).toMatch(/^[ !#-[\]-~]+$/)
      expect(message).not.toContain(marker)
      expect(message).not.toBe('accepted')
    }
  })
})

describe('checkTimes', () => {
  const check = (changes: Record<string, unknown>, maxTokenAge?: number) => {
    const problem = checkTimes(parseIdToken(withClaims(changes)), now, { maxTokenAge })
    return problem && `${problem.reason}: ${problem.message}`
  }

  test.each<[string, Record<string, unknown>, number | undefined]>([
    ['now', {}, undefined],
    ['29 seconds after its end', { exp: NOW - 29, iat: NOW - 300 }, undefined],
    ['30 seconds before it was issued', { iat: NOW + 30 }, undefined],
    ['30 seconds before nbf', { nbf: NOW + 30 }, undefined],
    ['at its maximum age', { iat: NOW - 600 }, 600],
  ])('accepts a token %s', (_, changes, maxTokenAge) => expect(check(changes, maxTokenAge)).toBeUndefined())

  test.each<[string, Record<string, unknown>, number | undefined, string]>([
    [
      '31 seconds after its end',
      { exp: NOW - 31, iat: NOW - 300 },
      undefined,
      'expired: the subject token has expired (exp 2023-11-14T22:12:49Z, 31 s ago): get it right before the exchange',
    ],
    [
      '31 seconds before it was issued',
      { iat: NOW + 31 },
      undefined,
      'not_yet_valid: the subject token is not yet valid (iat 2023-11-14T22:13:51Z, 31 s ahead)',
    ],
    [
      '31 seconds before nbf',
      { nbf: NOW + 31 },
      undefined,
      'not_yet_valid: the subject token is not yet valid (nbf 2023-11-14T22:13:51Z, 31 s ahead)',
    ],
    [
      'beyond its maximum age',
      { iat: NOW - 631 },
      600,
      'too_old: the subject token is too old (iat 2023-11-14T22:02:49Z, 631 s ago, at most 600 s): get a new one from the issuer',
    ],
    [
      'beyond its maximum age, within the leeway after its end',
      { iat: NOW - 631, exp: NOW - 10 },
      600,
      'too_old: the subject token is too old (iat 2023-11-14T22:02:49Z, 631 s ago, at most 600 s): get a new one from the issuer',
    ],
  ])('refuses a token %s', (_, changes, maxTokenAge, problem) => expect(check(changes, maxTokenAge)).toBe(problem))
})

describe('replayId', () => {
  test('is the hash of the signed part, in 43 characters', () => {
    const { signingInput } = parseIdToken(good)
    expect(replayId({ signingInput })).toMatch(/^[\w-]{43}$/)
    expect(replayId({ signingInput: 'header.payload' })).toBe('4_68V_O9SLSN8UsnH5kFqyV0IithWudmqptgbzg6SpM')
  })

  test('is the same whatever the signature, and another one for other claims', () => {
    const id = replayId(parseIdToken(good))
    expect(replayId(parseIdToken(unsigned(header, claims, 'b3RoZXI')))).toBe(id)
    expect(replayId(parseIdToken(withClaims({ jti: '1' })))).not.toBe(id)
  })
})
