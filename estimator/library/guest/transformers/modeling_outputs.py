"""Outputs of models: all are one class, named values that can be taken by attribute, by name or by position."""

from preflight_zoo.outputs import ModelOutput as _Named


class ModelOutput(_Named):
    #: What no forward of a model named is asked for all the same.
    loss = logits = cache = hidden_states = attentions = last_hidden_state = router_logits = aux_loss = None


BaseModelOutput = BaseModelOutputWithPast = BaseModelOutputWithPooling = BaseModelOutputWithPoolingAndCrossAttentions = ModelOutput
BaseModelOutputWithPastAndCrossAttentions = BaseModelOutputWithCrossAttentions = BaseModelOutputWithNoAttention = ModelOutput
BaseModelOutputWithPoolingAndNoAttention = ImageClassifierOutputWithNoAttention = ImageClassifierOutput = ModelOutput
CausalLMOutput = CausalLMOutputWithPast = CausalLMOutputWithCrossAttentions = MaskedLMOutput = Seq2SeqLMOutput = Seq2SeqModelOutput = ModelOutput
SequenceClassifierOutput = SequenceClassifierOutputWithPast = TokenClassifierOutput = QuestionAnsweringModelOutput = ModelOutput
MoeCausalLMOutputWithPast = MoeModelOutputWithPast = MoeModelOutput = MultipleChoiceModelOutput = NextSentencePredictorOutput = ModelOutput
Seq2SeqSequenceClassifierOutput = Seq2SeqQuestionAnsweringModelOutput = SemanticSegmenterOutput = DepthEstimatorOutput = BackboneOutput = ModelOutput
