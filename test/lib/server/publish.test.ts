/** The custom resource Published, whose function publishes others at an endpoint that answers as Lambda documents. */

import { createServer, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import event from '../../../events/release.json' with { type: 'json' }
import { releaseHandler } from '../../../lib/server/release.ts'
import { listening } from '../../support/listening.ts'

interface Deployed {
  codeSha256: string
  versions: { description: string; asked: number }[]
  live?: string
}

let functions: Record<string, Deployed>
let calls: string[]
/** How many further requests are throttled. */
let throttled = 0
let answers: { Status: string; Reason?: string; PhysicalResourceId: string }[]
beforeEach(() => {
  functions = { a: { codeSha256: 'sum-a', versions: [], live: '7' }, b: { codeSha256: 'sum-b', versions: [] } }
  calls = []
  answers = []
})

const refuse = (response: ServerResponse, status: number, type: string, Message: string) =>
  response.writeHead(status, { 'x-amzn-errortype': type }).end(JSON.stringify({ Message }))

const server = createServer(async (request, response) => {
  if (request.url === '/response') {
    answers.push((await json(request)) as (typeof answers)[number])
    response.end()
    return
  }
  const [, name = '', what = ''] = /^\/2015-03-31\/functions\/(\w+)\/(versions|aliases)/.exec(request.url ?? '') ?? []
  const body = (await json(request)) as Record<string, string>
  if (throttled > 0) {
    throttled--
    return void refuse(response, 429, 'TooManyRequestsException', 'slow down')
  }
  calls.push(`${request.method} ${name} ${what}`)
  const one = functions[name]
  if (one === undefined) return void refuse(response, 404, 'ResourceNotFoundException', 'no function')
  if (what === 'versions') {
    if (body.CodeSha256 !== one.codeSha256)
      return void refuse(response, 400, 'InvalidParameterValueException', 'CodeSHA256 is different')
    if (one.versions.at(-1)?.description !== body.Description)
      one.versions.push({ description: body.Description ?? '', asked: 0 })
    const asked = (one.versions.at(-1) as Deployed['versions'][number]).asked++
    response
      .writeHead(201)
      .end(JSON.stringify({ Version: String(one.versions.length), State: asked === 0 ? 'Pending' : 'Active' }))
    return
  }
  if (request.method === 'PUT' && one.live === undefined)
    return void refuse(response, 404, 'ResourceNotFoundException', 'no alias')
  one.live = body.FunctionVersion ?? ''
  response.writeHead(request.method === 'POST' ? 201 : 200).end('{}')
})
let endpoint: string
beforeAll(async () => {
  const { url, stop } = await listening(server)
  endpoint = url
  return stop
})

const credentials = { region: 'eu-central-1', accessKeyId: 'a', secretAccessKey: 'b' }

/** Returns the answer of the handler for these sums. */
async function published(sums: Readonly<Record<string, string>>, RequestType = 'Update') {
  const Functions = Object.entries(sums).map(([Name, CodeSha256]) => ({ Name, CodeSha256 }))
  const properties = { ServiceToken: 'a', ServiceTimeout: '300', Alias: 'live', Description: '0.2.0 x', Functions }
  await releaseHandler(0, { endpoint, ...credentials })({
    ...event,
    RequestType,
    ResourceType: 'Custom::Versions',
    LogicalResourceId: 'Published',
    ResponseURL: `${endpoint}/response`,
    ResourceProperties: properties,
  })
  return answers.at(-1)
}

test('publishes all functions, waits until they can run, then moves or makes their aliases', async () => {
  expect(await published({ a: 'sum-a', b: 'sum-b' })).toMatchObject({
    Status: 'SUCCESS',
    PhysicalResourceId: 'versions',
    LogicalResourceId: 'Published',
  })
  expect([functions.a?.live, functions.b?.live]).toEqual(['1', '1'])
  expect(functions.a?.versions.map(({ description }) => description)).toEqual(['0.2.0 x'])
  expect(calls).toEqual([
    ...['a', 'a', 'b', 'b'].map((name) => `POST ${name} versions`),
    ...['PUT a', 'PUT b', 'POST b'].map((call) => `${call} aliases`),
  ])
  // CloudFormation may repeat a request.
  await published({ a: 'sum-a', b: 'sum-b' })
  expect([functions.a?.live, functions.a?.versions.length]).toEqual(['1', 1])
})

// threat: deployment-5
test('fails, and moves no alias, if one function has other code than the archive of the release', async () => {
  expect(await published({ a: 'sum-a', b: 'another' })).toMatchObject({
    Status: 'FAILED',
    Reason: 'functions cannot be published: CodeSHA256 is different',
    PhysicalResourceId: 'versions',
  })
  expect([functions.a?.live, functions.b?.live]).toEqual(['7', undefined])
})

test('repeats what Lambda throttles', async () => {
  throttled = 2
  expect(await published({ a: 'sum-a' })).toMatchObject({ Status: 'SUCCESS' })
  throttled = 5
  expect(await published({ a: 'sum-a' })).toMatchObject({ Status: 'FAILED', Reason: expect.stringContaining('slow') })
})

test('asks for nothing but functions', async () => {
  expect(await published({ 'a/aliases/live?': 'sum-a' })).toMatchObject({ Status: 'FAILED' })
  expect(calls).toEqual([])
})

test('does nothing when the stack is removed', async () => {
  expect(await published({ a: 'another' }, 'Delete')).toMatchObject({ Status: 'SUCCESS' })
  expect(calls).toEqual([])
})
