/** Tests what the console makes of the answers of the token endpoint, which a server gives in their order. */

import { createServer } from 'node:http'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { KnownError } from '../../../clients/console/src/api/status.ts'
import { exchange } from '../../../clients/console/src/session/exchange.ts'
import { type Listening, listening } from '../../support/listening.ts'

const settings = { issuer: 'https://a', clientID: 'console', credential: 'staff@1', scopes: 'openid', origins: [] }
type GivenAnswer = [status: number, body: object, retryAfter?: number | undefined]

let server: Listening
/** The answers that are still to be given. The last one is given again. */
let answers: GivenAnswer[]
let waits: number[]

beforeAll(async () => {
  const answering = createServer((_, response) => {
    const [status, body, retryAfter] = (answers.length > 1 ? answers.shift() : answers[0]) as GivenAnswer
    if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter)
    response.writeHead(status)
    response.end(JSON.stringify(body))
  })
  server = await listening(answering)
  return server.stop
})
beforeEach(() => {
  waits = []
})

async function exchanged(...given: GivenAnswer[]): Promise<string> {
  answers = given
  const api = new URL(server.url)
  const wait = async (seconds: number) => void waits.push(seconds)
  try {
    return (await exchange('token', settings, api, wait)).key
  } catch (error) {
    if (error instanceof KnownError) return error.words.title
    throw error
  }
}

const key: GivenAnswer = [200, { access_token: 'mpk_a', expires_in: 60 }]
const later = (seconds?: number): GivenAnswer => [503, { error_description: 'the key is not known yet' }, seconds]
const refused = (text: string): GivenAnswer => [400, { error_description: text }]

describe('the exchange of the console', () => {
  const moment = 'The server cannot check your sign-in at the moment.'

  test.each<[string, GivenAnswer[], string, number[]]>([
    ['tries again when the server says', [later(41), later(60), key], 'mpk_a', [41, 60]],
    ['gives up after the third answer', [later(41)], moment, [41, 41]],
    ['does not try again without a time', [later(), key], moment, []],
    ['does not wait for more than a minute', [later(61), key], moment, []],
    ['does not blame the account for API Gateway', [[429, { message: 'Too Many Requests' }, 1]], moment, []],
    [
      'does not blame the account for what may be a setting',
      [refused('the subject token is not accepted for this client_id')],
      'The server does not accept this sign-in.',
      [],
    ],
    [
      'blames the account for its claims',
      [refused('claim sub is a')],
      'You cannot sign in here with this account.',
      [],
    ],
  ])('%s', async (_, given, result, waited) => {
    expect(await exchanged(...given)).toBe(result)
    expect(waits).toEqual(waited)
  })
})
