TOPIC=$(aws sns create-topic --name keyplane-$STAGE-keys --query TopicArn --output text)
aws sns subscribe --topic-arn "$TOPIC" --protocol email --notification-endpoint you@example.com
cat >topic-policy.json <<EOF
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"Service": "events.amazonaws.com"},
 "Action": "sns:Publish", "Resource": "$TOPIC"}]}
EOF
aws sns set-topic-attributes --topic-arn "$TOPIC" --attribute-name Policy --attribute-value file://topic-policy.json
aws events put-rule --name keyplane-$STAGE-mail --event-pattern '{"source": ["keyplane"],
  "detail-type": ["expiring", "rotation-stalled", "reused", "source-refused", "leaked"], "detail": {"data": {"labels": {"team": ["shop"]}}}}'
cat >mail.json <<EOF
[{"Id": "mail", "Arn": "$TOPIC", "InputTransformer": {
  "InputPathsMap": {"what": "$.detail-type", "name": "$.detail.data.name", "owner": "$.detail.data.owner", "time": "$.detail.time"},
  "InputTemplate": "\"Access key <name> of <owner>: <what> (<time>)\""}}]
EOF
aws events put-targets --rule keyplane-$STAGE-mail --targets file://mail.json
