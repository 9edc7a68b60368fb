/** Responses that API Gateway generates itself. Each is a Status with the Audit-Id of the request. */

/** A response by API Gateway. */
export interface GatewayResponse {
  statusCode: string
  responseParameters: Readonly<Record<string, string>>
  responseTemplates: Readonly<Record<string, string>>
}

const header = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [`gatewayresponse.header.${name}`, value]))

const audit = header({
  'Audit-Id': 'context.requestId',
  'Cache-Control': "'no-cache, private'",
  'Strict-Transport-Security': "'max-age=31536000'",
  'X-Content-Type-Options': "'nosniff'",
})
/** The request had no effect, so clients may retry it. */
const retry = { ...audit, ...header({ 'Retry-After': "'1'" }) }
/**
 * The function was not invoked, for example because Lambda throttled it, or it failed. API Gateway says only that the former is a 500
 * and the latter a 502 (docs.aws.amazon.com/lambda/latest/dg/services-apigateway-errors.html), not which type each has, so
 * INTEGRATION_FAILURE and DEFAULT_5XX are the same. A failed function may have written. client-go repeats a request of any method that
 * gets a 5xx with Retry-After (rest/with_retry.go), so only safe methods may get this header. A response cannot depend on the method:
 * the authorizer passes the value for GET and HEAD, and none for others. Routes without an authorizer get none.
 */
const retrySafe = { ...audit, ...header({ 'Retry-After': 'context.authorizer.retryAfter' }) }

/** API Gateway replaces this with the text of its error, in quotes. */
const ITS_ERROR = '$context.error.messageString'

const response = (
  code: number,
  reason: string,
  message: string,
  details?: object,
  responseParameters: Readonly<Record<string, string>> = audit,
): GatewayResponse => {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason }
  const text = JSON.stringify({ ...status, ...(details && { details }), code })
  return {
    statusCode: String(code),
    responseParameters,
    responseTemplates: { 'application/json': text.replace(`"${ITS_ERROR}"`, ITS_ERROR) },
  }
}

const inASecond = { retryAfterSeconds: 1 }
const forbidden = response(403, 'Forbidden', 'forbidden', {})
const notFound = response(404, 'NotFound', 'the server could not find the requested resource', {})
/** It says that a credential is not valid, or not any more. */
const uncached = { ...audit, ...header({ 'Cache-Control': "'no-store'" }) }
const unauthorized = (message: string) => response(401, 'Unauthorized', message, undefined, uncached)
const badRequest = response(400, 'BadRequest', ITS_ERROR)
const unable = 'the server is currently unable to handle the request'
const authorizerFailed = response(503, 'ServiceUnavailable', unable, inASecond, retry)
const throttled = response(429, 'TooManyRequests', 'Too many requests, please try again later.', inASecond, retry)
const failed = response(503, 'ServiceUnavailable', unable, undefined, retrySafe)

export const responses: Readonly<Record<string, GatewayResponse>> = {
  // The authorizer denies nothing: functions answer its refusals. This is for denials that are not its own, such as those of a
  // resource policy.
  ACCESS_DENIED: forbidden,
  // For unknown and deleted access keys. Functions answer requests without a key, and with disabled or expired ones.
  UNAUTHORIZED: unauthorized('Unauthorized: the access key is not known here: it may have been deleted, or changed'),
  // The authorizer failed, most often because the table was unavailable, or API Gateway could not invoke it.
  AUTHORIZER_FAILURE: authorizerFailed,
  AUTHORIZER_CONFIGURATION_ERROR: authorizerFailed,
  // For unknown routes, despite its name. The catch-all route matches most of them.
  MISSING_AUTHENTICATION_TOKEN: notFound,
  RESOURCE_NOT_FOUND: notFound,
  BAD_REQUEST_BODY: badRequest,
  BAD_REQUEST_PARAMETERS: badRequest,
  INVALID_SIGNATURE: unauthorized('Unauthorized'),
  EXPIRED_TOKEN: unauthorized('Unauthorized'),
  // A deployment uses no API keys, and a web application firewall only with the setting web-acl-arn. Their rejections are a Status too.
  INVALID_API_KEY: forbidden,
  WAF_FILTERED: forbidden,
  REQUEST_TOO_LARGE: response(413, 'RequestEntityTooLarge', 'Request entity too large: limit is 3145728'),
  UNSUPPORTED_MEDIA_TYPE: response(415, 'UnsupportedMediaType', 'the body of the request was in an unknown format'),
  THROTTLED: throttled,
  QUOTA_EXCEEDED: throttled,
  // No Retry-After header: the request may have had an effect, and clients would retry it automatically.
  INTEGRATION_TIMEOUT: response(
    504,
    'Timeout',
    'Timeout: request did not complete within the allotted timeout',
    inASecond,
  ),
  INTEGRATION_FAILURE: failed,
  API_CONFIGURATION_ERROR: response(500, 'InternalError', 'Internal error occurred'),
  DEFAULT_4XX: badRequest,
  DEFAULT_5XX: failed,
}
