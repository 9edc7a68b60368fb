/**
 * Watches over WebSocket. This API does not offer them; clients that ask for one first fall back to plain HTTP.
 * Source: k8s.io/apimachinery/pkg/util/httpstream/wsstream; io.fabric8.kubernetes.client.dsl.internal.AbstractWatchManager.
 */
import type { ApiRequest, ApiResponse } from '../request.ts'

/** Reports whether a request asks for a WebSocket. API Gateway drops the hop-by-hop header Upgrade, but keeps Sec-WebSocket-Key. */
export const asksForWebSocket = ({ headers }: Pick<ApiRequest, 'headers'>): boolean =>
  headers['sec-websocket-key'] !== undefined || /\bwebsocket\b/i.test(headers.upgrade ?? '')

/**
 * The answer to a watch over WebSocket: a 200 that ends at once. fabric8 then watches over HTTP without delay. It waits for
 * the end of the body first, so a stream of events would block it; a 503 delays it, any other code fails the watch.
 */
export const noWebSocket: ApiResponse = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  warnings: [],
  body: '',
}
