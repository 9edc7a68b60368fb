/** Finds the tokens in a kube config that the API has written. */
export const tokensIn = (text: string): string[] =>
  [...text.matchAll(/^ *token: *["']?([^\s"']+)/gm)].map(([, token = '']) => token)
