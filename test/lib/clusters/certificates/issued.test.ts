import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { beforeAll, describe, expect, test } from 'vitest'
import { createCertificateRequest } from '../../../../lib/clusters/certificates/certificaterequest.ts'
import { checkIssuedCertificate, type Expected } from '../../../../lib/clusters/certificates/issued.ts'
import { type Authority, SERVER_AUTH, testAuthority, type Wish } from '../authority.ts'

const now = new Date()
const later = (seconds: number) => new Date(now.getTime() + seconds * 1000)
const groups = ['ops', 'dev']
let authority: Authority
let mine: { key: string; request: string }
beforeAll(async () => {
  authority = await testAuthority()
  mine = await createCertificateRequest('ci', groups)
})

const check = (pem: string, changes: Partial<Expected> = {}) =>
  checkIssuedCertificate(pem, { key: mine.key, user: 'ci', groups, now, ...changes })

describe('checkIssuedCertificate', () => {
  test('returns the actual expiry in whole seconds, as in certificates', async () => {
    const issued = check(await authority.sign(mine.request, { notAfter: later(5000) }))
    expect(issued).toMatchObject({ notAfter: new Date(Math.floor(later(5000).getTime() / 1000) * 1000) })
  })

  test('accepts groups in any order', async () =>
    expect(check(await authority.sign(mine.request), { groups: ['dev', 'ops'] })).toHaveProperty('certificate'))

  test('keeps the chain in order and drops text between certificates', async () => {
    const below = await authority.below('intermediate')
    const own = await below.sign(mine.request)
    expect(check(`subject=ci\n${own}issuer\n${below.certificate}`)).toMatchObject({
      certificate: own + below.certificate,
    })
    expect(check(below.certificate + own)).toEqual({ problem: 'its chain is not in order' })
    expect(check(own + authority.certificate)).toEqual({ problem: 'its chain is not in order' })
  })

  test('rejects an authority of the same name', async () => {
    const below = await authority.below('intermediate')
    const impostor = await testAuthority('intermediate')
    expect(check((await below.sign(mine.request)) + impostor.certificate)).toHaveProperty('problem')
  })

  test.each<[string, Wish, Partial<Expected>]>([
    ['it is for another user', { user: 'admin', groups }, {}],
    ['it is for other groups', { user: 'ci', groups: ['ops', 'dev', 'system:masters'] }, {}],
    ['it is for other groups', { user: 'ci', groups: ['ops'] }, {}],
    ['it is for other groups', { user: 'ci', groups: ['ops', 'ops', 'dev'] }, {}],
    ['it is for other groups', { user: 'ci', groups: [] }, {}],
    ['it is an authority', { authority: true }, {}],
    ['it is not for clients', { usages: [SERVER_AUTH] }, {}],
    ['it has expired', { notAfter: later(-1) }, {}],
    ['it is not valid yet', { notBefore: later(3600), notAfter: later(7200) }, {}],
    ['it is valid for longer than this deployment allows', { notAfter: later(5000) }, { maxSeconds: 3600 }],
  ])('rejects a certificate because %s', async (problem, wish, changes) => {
    expect(check(await authority.sign(mine.request, wish), changes)).toEqual({ problem })
  })

  test('leaves TLS intact where nothing has loaded it', async () => {
    const script = `
      const { parentPort, workerData: [module, ...args] } = require('node:worker_threads')
      import(module).then(({ checkIssuedCertificate }) => {
        const { problem } = checkIssuedCertificate(...args)
        parentPort.postMessage([problem, typeof require('node:tls').createSecureContext])
      })`
    const module = new URL('../../../../lib/clusters/certificates/issued.ts', import.meta.url).href
    const pem = await authority.sign(mine.request)
    const workerData = [module, pem, { key: mine.key, user: 'ci', groups, now }]
    expect(await once(new Worker(script, { eval: true, workerData }), 'message')).toEqual([[undefined, 'function']])
  })

  test('rejects a certificate for another key', async () => {
    const other = await createCertificateRequest('ci', groups)
    expect(check(await authority.sign(other.request))).toEqual({ problem: 'it is for another key' })
  })

  test('tolerates five minutes of clock skew', async () => {
    const pem = await authority.sign(mine.request, { notBefore: later(200), notAfter: later(3800) })
    expect(check(pem, { maxSeconds: 3600 })).toHaveProperty('certificate')
  })

  /** Replaces the text of one of the two times. The signature is not checked here. */
  const withTime = (pem: string, index: number, text: string): string => {
    const bytes = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64')
    const [start = 0] = [...bytes.toString('latin1').matchAll(/\d{12}Z/g)].map(({ index }) => index).slice(index)
    bytes.write(text, start, 'latin1')
    return `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64')}\n-----END CERTIFICATE-----\n`
  }
  // threat: virtual-6
  test.each(['269999999999Z', 'abcdefabcdefZ', '260230000000Z', '            Z'])(
    'rejects the invalid time %j',
    async (text) => {
      const pem = await authority.sign(mine.request)
      expect(check(withTime(pem, 0, '260101000000Z'))).toHaveProperty('certificate')
      for (const index of [0, 1]) {
        expect(check(withTime(pem, index, text), { maxSeconds: 3600 })).toEqual({ problem: 'it has no time' })
      }
    },
  )

  // threat: virtual-6
  test('rejects an answer that is too large in total', async () => {
    const own = await authority.sign(mine.request)
    const chain = authority.certificate.repeat(200)
    expect(check(own + 'x'.repeat(60_000))).toHaveProperty('certificate')
    expect(check(own + 'x'.repeat(64 * 1024))).toEqual({ problem: 'it is too large' })
    expect(check(own + chain)).toEqual({ problem: 'it is too large' })
  })

  test.each(['', 'x', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'])(
    'rejects unreadable text %j',
    (pem) => expect(check(pem)).toEqual({ problem: 'it cannot be read' }),
  )
})
