"""What runs inside Ray actors: functions of the shards that an actor holds, and of all else that the answer needs."""
