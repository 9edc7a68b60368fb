CONNECTION=$(aws events create-connection --name keyplane-$STAGE-chat --authorization-type API_KEY --query ConnectionArn --output text \
  --auth-parameters 'ApiKeyAuthParameters={ApiKeyName=X-Unused,ApiKeyValue=none}')
cat >destination.json <<EOF
{"Name": "keyplane-$STAGE-chat", "ConnectionArn": "$CONNECTION", "HttpMethod": "POST",
 "InvocationEndpoint": "https://hooks.slack.com/services/T000/B000/XXXX"}
EOF
DESTINATION=$(aws events create-api-destination --cli-input-json file://destination.json --query ApiDestinationArn --output text)
aws iam create-role --role-name keyplane-$STAGE-chat --assume-role-policy-document '{"Version": "2012-10-17",
  "Statement": [{"Effect": "Allow", "Principal": {"Service": "events.amazonaws.com"}, "Action": "sts:AssumeRole"}]}'
aws iam put-role-policy --role-name keyplane-$STAGE-chat --policy-name post --policy-document "{\"Version\": \"2012-10-17\",
  \"Statement\": [{\"Effect\": \"Allow\", \"Action\": \"events:InvokeApiDestination\", \"Resource\": \"$DESTINATION\"}]}"
ROLE=$(aws iam get-role --role-name keyplane-$STAGE-chat --query Role.Arn --output text)
aws events put-rule --name keyplane-$STAGE-chat --event-pattern '{"source": ["keyplane"], "detail-type": ["reused", "leaked", "rotation-stalled"]}'
cat >chat.json <<EOF
[{"Id": "chat", "Arn": "$DESTINATION", "RoleArn": "$ROLE", "InputTransformer": {
  "InputPathsMap": {"what": "$.detail-type", "name": "$.detail.data.name", "owner": "$.detail.data.owner"},
  "InputTemplate": "{\"text\": \"Access key <name> of <owner>: <what>\"}"}}]
EOF
aws events put-targets --rule keyplane-$STAGE-chat --targets file://chat.json
