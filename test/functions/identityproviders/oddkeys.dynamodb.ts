/** Tests that keys of strangers break no connection of a function, which speaks to the table over TLS as in AWS. */

import { request } from 'node:http'
import { createServer } from 'node:https'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, expect, test } from 'vitest'
import { SERVER_AUTH, testAuthority } from '../../lib/clusters/authority.ts'
import { useFunctions } from '../../support/functions.ts'
import { listening } from '../../support/listening.ts'
import { oddJwks } from '../../support/oddkeys.ts'

const authority = await testAuthority()
const pair = await authority.pair({ names: ['127.0.0.1'], usages: [SERVER_AUTH] })
const trusted = getCACertificates('default')
setDefaultCACertificates([...trusted, authority.certificate])

/** Stands in front of the emulator, which has no TLS. */
const front = createServer({ cert: pair.certificate, key: pair.key }, (from, to) => {
  const { method, headers, url = '/' } = from
  const asked = request(new URL(url, functions.get().store.dynamodb.endpoint), { method, headers }, (answer) => {
    to.writeHead(answer.statusCode ?? 500, answer.headers)
    answer.pipe(to)
  })
  from.pipe(asked.on('error', () => to.destroy()))
})
let connections = 0
front.on('secureConnection', () => connections++)
const { port, stop } = await listening(front)

const functions = useFunctions({ AWS_ENDPOINT_URL_DYNAMODB: `https://127.0.0.1:${port}` })
afterAll(async () => {
  setDefaultCACertificates(trusted)
  await stop()
})

// threat: exchange-19
test('odd keys in providers leave the connections to the table whole', async () => {
  const answers: string[] = []
  const create = (name: string, spec: object, query = {}) =>
    functions.invoke('identityproviders/create', { body: { metadata: { name }, spec }, query })
  const issuer = 'https://issuer.example.com'
  await create('first', { issuer })
  const before = connections
  for (const [round, [, key]] of oddJwks.filter(([, { kty }]) => kty === 'RSA').entries()) {
    const odd = create('odd', { issuer, jwks: JSON.stringify({ keys: [key] }) }, { dryRun: 'All' })
    const other = create(`other-${round}`, { issuer })
    answers.push(...(await Promise.all([odd, other])).map(({ status }) => String(status)))
  }
  expect(new Set(answers)).toEqual(new Set(['422', '201']))
  expect(connections - before).toBeLessThanOrEqual(2)
})
