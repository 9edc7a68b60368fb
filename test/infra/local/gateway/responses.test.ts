import { expect, test } from 'vitest'
import { renderResponse } from '../../../../infra/local/gateway/responses.ts'

const context = { requestId: 'r-1', authorizer: { status: '{"a":"\\"b\\""}', level: '3' }, identity: { user: null } }
const render = (type: Parameters<typeof renderResponse>[0], description: object = {}) =>
  renderResponse(type, { [type]: description }, context)

test('uses the defaults of API Gateway without customization', () => {
  expect(renderResponse('INTEGRATION_TIMEOUT', {}, context)).toEqual({
    statusCode: 504,
    headers: { 'Content-Type': 'application/json' },
    body: '{"message":"Endpoint request timed out"}',
  })
  expect(renderResponse('AUTHORIZER_FAILURE', {}, context).body).toBe('{"message":null}')
})

test('inserts context unescaped, and nothing for missing variables', () => {
  const responseTemplates = {
    'application/json':
      '$context.authorizer.status|$context.authorizer.none|$context.identity.user|$context.constructor|$context.error.message',
  }
  expect(render('ACCESS_DENIED', { responseTemplates }).body).toBe(
    '{"a":"\\"b\\""}||||User is not authorized to access this resource',
  )
})

test('customizes status and headers', () => {
  const responseParameters = {
    'gatewayresponse.header.Audit-Id': 'context.requestId',
    'gatewayresponse.header.Retry-After': "'1'",
    'gatewayresponse.header.Empty': "''",
  }
  const { statusCode, headers } = render('MISSING_AUTHENTICATION_TOKEN', { statusCode: '404', responseParameters })
  expect(statusCode).toBe(404)
  expect(headers).toEqual({ 'Content-Type': 'application/json', 'Audit-Id': 'r-1', 'Retry-After': '1', Empty: '' })
})

test('refuses an unsupported parameter', () => {
  const responseParameters = { 'gatewayresponse.header.X': 'method.request.header.X' }
  expect(() => render('UNAUTHORIZED', { responseParameters })).toThrow('method.request.header.X')
})

test('falls back to the customized defaults for 4xx and 5xx', () => {
  const responses = {
    DEFAULT_4XX: { responseTemplates: { 'application/json': 'four' } },
    DEFAULT_5XX: { statusCode: '500', responseTemplates: { 'application/json': 'five' } },
  }
  expect(renderResponse('REQUEST_TOO_LARGE', responses, context)).toMatchObject({ statusCode: 413, body: 'four' })
  expect(renderResponse('INTEGRATION_FAILURE', responses, context)).toMatchObject({ statusCode: 500, body: 'five' })
})
